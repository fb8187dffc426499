"""Finds a process's descendants and what memory they hold, from /proc."""

import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
DRIVER_FILES = "/dev/nvidia"
SCRATCH = ("/dev/shm", "/tmp")  # noqa: S108 - private to each sandbox, in memory


def read(path: Path) -> str:
    """The file's text; "" if it cannot be read, for example because its process has ended."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def started_at(pid: int) -> str:
    """Clock ticks since boot at which the process started; distinguishes it from a later one with the same id."""
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else ""


def parent_of(pid: int) -> int:
    """The parent's process id; 0 if this process can see no parent."""
    fields = _stat(pid)
    return int(fields[1]) if len(fields) > 1 else 0


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on, which is the third."""
    return read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()


def tree_of(pid: int) -> list[int]:
    """`pid` and all its descendants, as far as they can still be found."""
    found, pending = [], [pid]
    while pending:
        parent = pending.pop()
        found.append(parent)
        with suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                pending += [int(child) for child in read(task / "children").split()]
    return found


def used_ms(root: int) -> float:
    """Processor time of a tree of processes, with that of ended children that were waited for."""
    ticks = sum(sum(map(int, fields[11:15])) for fields in map(_stat, tree_of(root)) if len(fields) > 15)
    return ticks * 1e3 / os.sysconf("SC_CLK_TCK")


def unlinked_bytes(pid: int, folder: Path, most: int) -> int:
    """The room that files without a name take on the disk of `folder` because `pid` or a descendant holds them open.

    Looks at `most` open files at most. Files that are only mapped, or on their way through a socket, are not found.
    """
    found: dict[int, int] = {}
    with suppress(OSError):
        disk = folder.stat().st_dev
        for facts in islice(_open_files(pid), most):
            if facts.st_nlink == 0 and facts.st_dev == disk and stat.S_ISREG(facts.st_mode):
                found[facts.st_ino] = facts.st_blocks * 512
    return sum(found.values())


def _open_files(pid: int) -> Iterator[os.stat_result]:
    for member in tree_of(pid):
        with suppress(OSError), os.scandir(f"/proc/{member}/fd") as links:
            for link in links:
                with suppress(OSError):
                    yield link.stat()


def ancestors_of(pid: int) -> list[int]:
    """Parent, its parent and so on, without the first process of all."""
    found: list[int] = []
    while (pid := parent_of(pid)) > 1:
        found.append(pid)
    return found


def private_bytes(pid: int) -> int:
    """Resident memory that is neither shared nor of files. Many processes share the pages of program code."""
    fields = read(Path(f"/proc/{pid}/statm")).split()
    return (int(fields[1]) - int(fields[2])) * PAGE_BYTES if len(fields) > 2 else 0


def shared_bytes(pid: int) -> int:
    """Resident shared memory: also files in memory that are mapped, and what the CUDA driver pins (cudaMallocHost)."""
    return _kib(read(Path(f"/proc/{pid}/status")), "RssShmem:") * 1024


@dataclass(frozen=True)
class Scratch:
    """The folders of one sandbox that lie in memory."""

    used_bytes: int = 0
    devices: frozenset[str] = frozenset()
    """Their file systems, as smaps names them."""


def scratch_of(tree: Sequence[int]) -> Scratch:
    """The scratch folders that a tree of processes has for itself. Their files belong to no process's memory.

    It is empty for a tree that sees this machine's own folders, and if this process may not look into another's root:
    root needs CAP_SYS_PTRACE for that, the user who made the sandbox needs nothing.
    """
    for pid in tree:
        used: dict[int, int] = {}
        for folder in SCRATCH:
            with suppress(OSError):
                inside = Path(f"/proc/{pid}/root{folder}")
                device, space = inside.stat().st_dev, os.statvfs(inside)
                if device != Path(folder).stat().st_dev:
                    used[device] = (space.f_blocks - space.f_bfree) * space.f_frsize
        if used:
            return Scratch(sum(used.values()), frozenset(f"{os.major(n):02x}:{os.minor(n):02x}" for n in used))
    return Scratch()


def file_bytes(pid: int) -> int:
    """Resident file pages: libraries mostly, but also what a driver shows through its device files."""
    return _kib(read(Path(f"/proc/{pid}/status")), "RssFile:") * 1024


def driver_bytes(pid: int) -> int:
    """Resident pages behind NVIDIA's device files, as managed memory on the host is. Slow: all pages are walked."""
    return _mapped_bytes(pid, lambda mapping: mapping[-1].startswith(DRIVER_FILES))


def mapped_bytes(pid: int, devices: Collection[str]) -> int:
    """Resident pages of files on these file systems. Slow, as `driver_bytes`."""
    return _mapped_bytes(pid, lambda mapping: mapping[3] in devices)


def _mapped_bytes(pid: int, is_wanted: Callable[[list[str]], bool]) -> int:
    """Resident pages of the mappings that are wanted by the fields of their lines in /proc/PID/maps."""
    if not any(is_wanted(line.split(None, 5)) for line in read(Path(f"/proc/{pid}/maps")).splitlines()):
        return 0
    total, wanted = 0, False
    for line in read(Path(f"/proc/{pid}/smaps")).splitlines():
        if line[:1].isupper():
            total += _kib(line, "Rss:") * 1024 if wanted and line.startswith("Rss:") else 0
        else:
            wanted = is_wanted(line.split(None, 5))
    return total


def _kib(text: str, key: str) -> int:
    at = text.find(key)
    return int(text[at + len(key) :].split(None, 1)[0]) if at >= 0 else 0
