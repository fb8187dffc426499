"""Watches the free space of the disks that commands use, so that a full disk is never a contestant's failure."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from runners.agent.ground.errors import DiskFull
from runners.agent.sandbox.policy import Command, Outcome
from runners.agent.sandbox.watch import workspace_excess

FLOOR_BYTES = 1 << 30
"""A node with less free space than this takes no work: one file of the default maximum size must fit."""
FLOOR_FILES = 10_000
FLOOR_SHARE = 1 / 4
"""The floors are at most this share of a small disk."""
LOOK_SECONDS = 0.05
"""No disk writes FLOOR_BYTES in this time."""


class Space:
    """The free space of the disks that hold `folders`. `facts` is `os.statvfs`, except in tests.

    `make_room` is called if there is too little, and removes files that can be made again.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        make_room: Callable[[], None],
        facts: Callable[[Path], os.statvfs_result] = os.statvfs,
    ) -> None:
        self._folders, self._make_room, self._facts = folders, make_room, facts

    def shortage(self) -> str:
        """The reason why the disks are too full for commands, or "". It is shown in public, so it names no folder."""
        return next(filter(None, map(self._shortage, self._folders)), "")

    def lasting_shortage(self) -> str:
        """The shortage that is left after `make_room`, or ""."""
        if not self.shortage():
            return ""
        self._make_room()
        return self.shortage()

    def check(self) -> None:
        """Raise DiskFull if there is a shortage."""
        _fail_if(self.shortage())

    @contextmanager
    def watched(self) -> Iterator["SpaceWatch"]:
        """Watch the disks during one command. Raises DiskFull if they are short before it."""
        _fail_if(self.lasting_shortage())
        watch = SpaceWatch(self)
        try:
            yield watch
        finally:
            watch.stop()

    def _shortage(self, folder: Path) -> str:
        try:
            facts = self._facts(folder)
        except OSError as error:
            return f"it cannot be read: {error.strerror}"
        free, size = facts.f_bavail * facts.f_frsize, facts.f_blocks * facts.f_frsize
        floor = min(FLOOR_BYTES, size * FLOOR_SHARE)
        if free < floor:
            return f"less than {floor / 2**20:,.0f} MiB are free"
        files_floor = min(FLOOR_FILES, facts.f_files * FLOOR_SHARE)  # 0 if the filesystem has no bound
        if facts.f_favail < files_floor:
            return f"there is room for less than {files_floor:,.0f} files"
        return ""


class SpaceWatch:
    """Looks at the disks in a thread of its own, because a program may delete its files before it reports a failure."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._shortage = ""
        self._ended = Event()
        self._thread = Thread(target=self._look_until_ended, name="space", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look a last time. Call this before the command's files are removed."""
        self._ended.set()
        self._thread.join()
        self._look()

    def check(self, command: Command, outcome: Outcome) -> None:
        """Raise DiskFull if the command failed and the disks were short at any time since it began.

        A command that left more in its workspace than it may is itself the reason why it failed.
        """
        if not outcome.succeeded and not workspace_excess(command.workspace, command.limits.workspace_bytes):
            _fail_if(self._shortage)

    def _look_until_ended(self) -> None:
        while not (self._shortage or self._ended.wait(LOOK_SECONDS)):
            self._look()

    def _look(self) -> None:
        self._shortage = self._shortage or self._space.shortage()


def _fail_if(shortage: str) -> None:
    if shortage:
        raise DiskFull(f"the disk of this machine is too full: {shortage}")
