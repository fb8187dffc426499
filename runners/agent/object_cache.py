"""Objects of problems' own sources, kept by ccache below the build cache: a new solution compiles only itself.

Contestants' code runs while it is built, so nothing that it could write is ever read by another build: only builds of
a problem's reference write, and contestants' see the folder read-only. There is one folder for each problem, toolchain
and architecture. ccache hashes neither the tools that nvcc calls nor the flags that reach them by other ways, and in
another problem's folder a contestant could read that problem's tests.
"""

import hashlib
import json
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from runners.agent.sandbox.policy import Mount
from runners.agent.task import Subject

TARGET = "/object-cache"
DEFAULT_MAX_BYTES = 2 << 30
IN_USE_SECONDS = 3600.0
"""A folder used more lately may be mounted in a build of another agent's: ccache fails where it cannot write."""


class ObjectCaches:
    """Folders for ccache under `folder`; at start the least recently used go until `max_bytes` are left."""

    def __init__(self, folder: Path, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)  # the folders below are open to the users of all slots
        self._folder = folder
        self._prune(max_bytes)

    def mount(self, subject: Subject, toolchain: str) -> Mount | None:
        """The subject's folder as its build shall see it; None where no reference has filled it yet."""
        place = self._folder / _name(subject, toolchain)
        if subject.trusted:
            place.mkdir(exist_ok=True)
            place.chmod(0o777)
        elif not place.exists():
            return None
        with suppress(OSError):
            os.utime(place)
        return Mount(place, TARGET, writable=subject.trusted)

    def _prune(self, max_bytes: int) -> None:
        places = sorted(self._folder.iterdir(), key=lambda place: place.stat().st_mtime)
        sizes = {place: _size_bytes(place) for place in places}
        total = sum(sizes.values())
        for place in places:
            if total <= max_bytes or time.time() - place.stat().st_mtime < IN_USE_SECONDS:
                return
            shutil.rmtree(place, ignore_errors=True)
            total -= sizes[place]


def _name(subject: Subject, toolchain: str) -> str:
    parts = [subject.problem_sha256, toolchain, subject.build_policy.arch]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _size_bytes(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*"))
