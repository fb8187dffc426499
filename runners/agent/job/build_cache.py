"""Content-addressed builds on disk. A key is built once; compile errors are cached, too."""

import hashlib
import json
import logging
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from runners.agent.ground.atomic import discard, seal, unseal, write_atomically
from runners.agent.ground.locks import KeyedLocks
from runners.agent.job.artefact import EMPTY

DEFAULT_MAX_BYTES = 4 << 30
KEEP_SHARE = 0.8
"""The share of the maximum that eviction leaves, so that it runs seldom."""
FORMAT = 3

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Build:
    """The end, output and product of a build. Times are milliseconds."""

    key: str
    exit_code: int | None
    signal: int | None = None
    timed_out: bool = False
    memory_exceeded: bool = False
    stdout: str = ""
    stderr: str = ""
    truncated: bool = False
    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    peak_memory_bytes: int = 0
    limits: str = ""
    """The limits of the build. A cached failure is used only under the same limits."""
    product: bytes = EMPTY
    cached: bool = False
    workspace_excess: str = ""
    """See `policy.Outcome`. Such a build is never kept."""

    @property
    def succeeded(self) -> bool:
        return self.exit_code == 0 and not (self.timed_out or self.memory_exceeded)

    @property
    def worth_keeping(self) -> bool:
        """Whether the build ended by itself: no time limit, memory limit or signal, and an exit status below 126."""
        ended_by_itself = self.signal is None and self.exit_code is not None and self.exit_code < 126
        return ended_by_itself and not (self.timed_out or self.memory_exceeded)


def build_key(
    toolchain: str, command: str, environment: Mapping[str, str], files: Mapping[str, bytes], architecture: str
) -> str:
    """sha256 over all inputs of a build. `toolchain` is an image's digest or the identity of the tools."""
    parts = {
        "format": FORMAT,
        "toolchain": toolchain,
        "command": command,
        "environment": dict(sorted(environment.items())),
        "files": {path: hashlib.sha256(files[path]).hexdigest() for path in sorted(files)},
        "architecture": architecture,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class BuildsElsewhere(Protocol):
    """Builds of problems' own code that other nodes have made, and that they may have from this one."""

    def find(self, key: str, cancelled: threading.Event, longest_seconds: float) -> Build | None:
        """Another node's build, waited for if it is being made; None to make it here. Raises Cancelled."""
        ...

    def settle(self, key: str, made: Build | None) -> None:
        """Offer the build that was made after `find`; None if there is none."""
        ...


class BuildCache:
    """Builds by key under one folder, at most `max_bytes` in all. The least recently used are evicted first.

    Several processes may share the folder. Files appear by a rename, and a vanished file is a miss.
    """

    def __init__(self, folder: Path, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._max_bytes = max_bytes
        self._building: KeyedLocks[str] = KeyedLocks()
        self._counting = threading.Lock()
        self._used_bytes = sum(size for _, size, _ in self._entries())

    @contextmanager
    def building(self, key: str, cancelled: threading.Event | None = None) -> Iterator[None]:
        """Hold this while looking up and building. A second thread with the same key waits and then finds the build.

        Raises Cancelled if `cancelled` is set during the wait.
        """
        with self._building.hold(key, cancelled):
            yield

    def get(self, key: str, limits: str) -> Build | None:
        """The kept build, marked `cached`; None if there is none. A failure is returned only under the same limits.

        An entry that cannot be read, or is not whole, is removed.
        """
        path = self._path(key)
        data = unseal(path)
        if data is None:
            return None
        build = decoded(data)
        if build is None or build.key != key:
            discard(path, "it is no build of this key")
            return None
        with suppress(OSError):
            os.utime(path)
        return build if build.succeeded or build.limits == limits else None

    def put(self, build: Build) -> None:
        """Keep a build if it is worth keeping and fits into the cache."""
        data = seal(encoded(build))
        if not build.worth_keeping or len(data) > self._max_bytes * KEEP_SHARE:
            return
        try:
            self._write(self._path(build.key), data)
        except OSError as error:
            logger.warning("a build is not kept: %s", error)

    def give_way(self) -> None:
        """Remove the least recently used half of the builds, because the disk is too full."""
        with self._counting:
            self._evict(self._used_bytes / 2)

    def _write(self, path: Path, data: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            discard(path.parent, "it is no folder")
            path.parent.mkdir()
        write_atomically(path, data)
        with self._counting:
            self._used_bytes += len(data)
            if self._used_bytes > self._max_bytes:
                self._evict(self._max_bytes * KEEP_SHARE)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        for path in self._folder.glob("*/*"):
            with suppress(OSError):
                facts = path.stat()
                yield facts.st_mtime, facts.st_size, path

    def _evict(self, left_bytes: float) -> None:
        entries = sorted(self._entries())
        self._used_bytes = sum(size for _, size, _ in entries)
        for _, size, path in entries:
            if self._used_bytes <= left_bytes:
                return
            with suppress(OSError):
                path.unlink()
            self._used_bytes -= size


def encoded(build: Build) -> bytes:
    facts: dict[str, Any] = asdict(replace(build, product=EMPTY))
    del facts["product"], facts["cached"]
    return json.dumps(facts).encode() + b"\n" + build.product


def decoded(data: bytes) -> Build | None:
    """The build; None for data that another version of this program has kept."""
    head, _, product = data.partition(b"\n")
    try:
        return Build(product=product, cached=True, **json.loads(head))
    except (ValueError, TypeError):
        return None
