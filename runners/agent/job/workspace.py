"""Workspaces: private folders with the files of one command, always removed after it."""

import errno
import fcntl
import os
import posixpath
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from runners.agent.ground.errors import UnusableProblem

LOCK_NAME = "lock"
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class Workspaces:
    """The workspaces of one process, in its own room under `root`. The rooms of dead processes are removed."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        sweep(root)
        self._room, self._lock = _take_room(root)

    @contextmanager
    def open(self, files: Mapping[str, bytes]) -> Iterator[Path]:
        """A new folder with these files (see `lay_out`). Raises UnusableProblem for a path outside the folder."""
        folder = self._room / uuid4().hex
        folder.mkdir(mode=0o700)
        try:
            lay_out(folder, files)
            yield folder
        finally:
            remove(folder)

    def close(self) -> None:
        """Remove the room and release its lock."""
        remove(self._room)
        os.close(self._lock)


def _take_room(root: Path) -> tuple[Path, int]:
    """A new room and its lock. The process holds the lock while it lives; the kernel releases it even after kill -9."""
    while True:
        room = root / uuid4().hex
        room.mkdir(mode=0o711)
        try:
            lock = os.open(room / LOCK_NAME, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            continue
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (room / LOCK_NAME).exists():
            return room, lock
        os.close(lock)  # another process removed it as abandoned before it was locked


def lay_out(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files, given by relative, normal paths. Raises UnusableProblem for others, and OSError on a full disk."""
    for path, content in files.items():
        if path.startswith("/") or path == ".." or path.startswith("../"):
            raise UnusableProblem(f"the file {path!r} would lie outside the workspace; mend the problem's pack")
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in FULL:
                raise
            raise UnusableProblem(f"the file {path!r} cannot be written: {error}") from error


def normal_path(path: str) -> str:
    """A problem's own path without `.` and double slashes. Solutions' paths are normal already."""
    return posixpath.normpath(path)


def sweep(root: Path) -> None:
    """Remove the rooms of dead processes."""
    for room in root.iterdir():
        if _is_abandoned(room):
            remove(room)


def _is_abandoned(room: Path) -> bool:
    try:
        lock = os.open(room / LOCK_NAME, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        # A room without a lock was either just created or partly removed. Its age tells which.
        return _age_seconds(room) > 60
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


def _age_seconds(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def remove(folder: Path) -> None:
    """Remove a tree, including folders without permissions. Links are not followed."""
    try:
        shutil.rmtree(folder, onerror=_permit_and_retry)
    except (RecursionError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.ENAMETOOLONG:
            raise
        _remove_deep(folder)


def _remove_deep(folder: Path) -> None:
    """Remove a tree that is too deep for Python or for one path. `chmod` and `rm` have no such limit."""
    for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        subprocess.run([*command, "--", str(folder)], stderr=subprocess.DEVNULL, check=False)
    if folder.exists():
        raise OSError(errno.ENOTEMPTY, "the workspace could not be removed", str(folder))


def _permit_and_retry(function: Callable[..., Any], path: str, details: Any) -> None:
    error = details[1]
    if isinstance(error, FileNotFoundError):
        return
    if not isinstance(error, PermissionError):
        raise error
    for place in (os.path.dirname(path), path):  # noqa: PTH120 - a name that may not be text
        if not stat.S_ISLNK(os.lstat(place).st_mode):
            os.chmod(place, 0o700)  # noqa: PTH101
    if function in (os.unlink, os.rmdir):
        function(path)
    else:
        remove(Path(path))
