"""Asks the kernel for each thing that bubblewrap does, in a process that then ends.

A program of its own, which imports nothing but Python's library.
Prints a JSON object: the errno of each step that was tried, 0 where it was allowed.
"""

import ctypes
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

CLONE_NEWUSER = 0x10000000
OTHER_NAMESPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
"""Mounts, host name, System V's objects, processes, network."""
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_REC_SLAVE = 0x4000 | (1 << 19)
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

libc = ctypes.CDLL(None, use_errno=True)


def called(status: int) -> None:
    """Raise OSError for a call that failed."""
    if status < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def mount(kind: bytes, target: Path, flags: int) -> None:
    called(libc.mount(kind, bytes(target), kind, ctypes.c_ulong(flags), None))


def map_user(uid: int, gid: int) -> None:
    """Become the namespace's root, as bubblewrap does."""
    for name, words in (("setgroups", "deny"), ("gid_map", f"0 {gid} 1"), ("uid_map", f"0 {uid} 1")):
        Path("/proc/self", name).write_text(words, encoding="ascii")


def pivot(folder: Path) -> None:
    """Make the folder the root and keep the old one below it."""
    old = folder / "old"
    old.mkdir()
    called(libc.syscall(PIVOT_ROOT[os.uname().machine], bytes(folder), bytes(old)))


def in_child(step: Callable[[], None]) -> None:
    """Run the step in a child, the first process of the new namespace. Raises its OSError."""
    child = os.fork()
    if child == 0:
        code = 0
        try:
            step()
        except OSError as error:
            code = error.errno or 1
        os._exit(code)
    if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise OSError(code, os.strerror(code))


def steps(folder: Path) -> dict[str, Callable[[], None]]:
    """The steps in their order: each needs those before it, but not the mount of /proc."""
    uid, gid = os.getuid(), os.getgid()
    root, proc = folder / "root", folder / "proc"
    root.mkdir()
    proc.mkdir()

    def mount_root() -> None:
        mount(b"none", Path("/"), MS_REC_SLAVE)
        mount(b"tmpfs", root, MS_NOSUID | MS_NODEV)

    return {
        "user": lambda: called(libc.unshare(CLONE_NEWUSER)),
        "map": lambda: map_user(uid, gid),
        "namespaces": lambda: called(libc.unshare(OTHER_NAMESPACES)),
        "mount": mount_root,
        "proc": lambda: in_child(lambda: mount(b"proc", proc, MS_NOSUID | MS_NODEV | MS_NOEXEC)),
        "pivot_root": lambda: pivot(root),
    }


def main() -> None:
    found: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="podium-rights-") as folder:

        def try_all() -> None:
            for name, step in steps(Path(folder)).items():
                try:
                    step()
                    found[name] = 0
                except OSError as error:
                    found[name] = error.errno or 1
                    if name != "proc":
                        return

        child = os.fork()  # the folder is removed by a process that still sees it
        if child == 0:
            try_all()
            sys.stdout.write(json.dumps(found))
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
