"""Finds a process's descendants and what memory they hold, from /proc."""

import os
from contextlib import suppress
from pathlib import Path

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
DRIVER_FILES = "/dev/nvidia"


def read(path: Path) -> str:
    """The file's text; "" where it cannot be read, as when its process has ended."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def started_at(pid: int) -> str:
    """Clock ticks since boot at which the process started; tells it from a later one with the same number."""
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else ""


def parent_of(pid: int) -> int:
    """0 where there is none that can be seen."""
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


def ancestors_of(pid: int) -> list[int]:
    """Parent, its parent and so on, without the first process of all."""
    found: list[int] = []
    while (pid := parent_of(pid)) > 1:
        found.append(pid)
    return found


def resident_bytes(pid: int) -> int:
    """Private and shared resident memory but file pages: text mapped by many processes is nobody's bomb.

    Memory that the CUDA driver pins (cudaMallocHost) is shared memory to the kernel and counts.
    """
    fields = read(Path(f"/proc/{pid}/statm")).split()
    if len(fields) < 3:
        return 0
    shared_memory = _kib(read(Path(f"/proc/{pid}/status")), "RssShmem:") * 1024
    return (int(fields[1]) - int(fields[2])) * PAGE_BYTES + shared_memory


def file_bytes(pid: int) -> int:
    """Resident file pages: libraries mostly, but also what a driver shows through its device files."""
    return _kib(read(Path(f"/proc/{pid}/status")), "RssFile:") * 1024


def driver_bytes(pid: int) -> int:
    """Resident pages behind NVIDIA's device files, as managed memory on the host is. Slow: all pages are walked."""
    if DRIVER_FILES not in read(Path(f"/proc/{pid}/maps")):
        return 0
    total, ours = 0, False
    for line in read(Path(f"/proc/{pid}/smaps")).splitlines():
        if line[:1].isupper():
            total += _kib(line, "Rss:") * 1024 if ours and line.startswith("Rss:") else 0
        else:
            ours = line.split(None, 5)[-1].startswith(DRIVER_FILES)
    return total


def _kib(text: str, key: str) -> int:
    at = text.find(key)
    return int(text[at + len(key) :].split(None, 1)[0]) if at >= 0 else 0
