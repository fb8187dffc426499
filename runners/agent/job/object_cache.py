"""Caches the object files of problems' own sources with ccache, so that a new solution compiles only itself.

A build runs contestants' code, so another build must never read files that it could write. Only builds of a problem's
reference write to the cache; contestants' builds see the folder read-only. Each problem, toolchain and architecture has
its own folder. ccache does not hash the tools that nvcc calls, nor flags that reach them by other ways, and in a shared
folder a contestant could read another problem's tests.
"""

import hashlib
import json
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from runners.agent.ground.atomic import discard
from runners.agent.sandbox.policy import Mount

TARGET = "/object-cache"
DEFAULT_MAX_BYTES = 2 << 30
IN_USE_SECONDS = 3600.0
"""A folder used within this time may be mounted in another agent's build and stays: ccache fails without it."""


class ObjectCaches:
    """ccache folders under `folder`. At start, removes the least recently used until `max_bytes` are left."""

    def __init__(self, folder: Path, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)  # the subfolders are open to the users of all slots
        self._folder = folder
        self._prune(max_bytes)

    def mount(self, problem_sha256: str, arch: str, toolchain: str, *, trusted: bool) -> Mount | None:
        """The mount of the problem's folder. It is writable for a `trusted` build, that of the problem's own reference.

        Other builds get None until a reference has filled the folder.
        """
        place = self._folder / _name(problem_sha256, arch, toolchain)
        if place.exists() and not place.is_dir():
            discard(place, "it is no folder")
        if trusted:
            place.mkdir(exist_ok=True)
            place.chmod(0o777)
        elif not place.exists():
            return None
        with suppress(OSError):
            os.utime(place)
        return Mount(place, TARGET, writable=trusted)

    def _prune(self, max_bytes: int) -> None:
        places = sorted(self._folder.iterdir(), key=lambda place: place.stat().st_mtime)
        sizes = {place: _size_bytes(place) for place in places}
        total = sum(sizes.values())
        for place in places:
            if total <= max_bytes or time.time() - place.stat().st_mtime < IN_USE_SECONDS:
                return
            shutil.rmtree(place, ignore_errors=True)
            total -= sizes[place]


def _name(problem_sha256: str, arch: str, toolchain: str) -> str:
    parts = [problem_sha256, toolchain, arch]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _size_bytes(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*"))
