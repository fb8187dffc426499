"""Content-addressed builds on disk: the same key is never built twice, and a compile error is an answer too."""

import hashlib
import json
import os
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from runners.agent.artefact import EMPTY
from runners.agent.keyed import KeyedLocks

DEFAULT_MAX_BYTES = 4 << 30
KEEP_SHARE = 0.8
"""What eviction leaves: it runs seldom when it makes room for a while."""
FORMAT = 2


@dataclass(frozen=True)
class Build:
    """How a build ended, what it printed and what it made. Times are milliseconds."""

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
    """The bounds it ran under, which a failure may be owed to; a failure holds for the same bounds only."""
    product: bytes = EMPTY
    cached: bool = False

    @property
    def succeeded(self) -> bool:
        return self.exit_code == 0 and not (self.timed_out or self.memory_exceeded)

    @property
    def worth_keeping(self) -> bool:
        """Not so for an end that came from outside: a time limit, want of memory, a signal, 126 and more of a shell."""
        ended_by_itself = self.signal is None and self.exit_code is not None and self.exit_code < 126
        return ended_by_itself and not (self.timed_out or self.memory_exceeded)


def build_key(
    toolchain: str, command: str, environment: Mapping[str, str], files: Mapping[str, bytes], architecture: str
) -> str:
    """sha256 over all that a build's product depends on; `toolchain` is an image's digest or the tools' identity."""
    parts = {
        "format": FORMAT,
        "toolchain": toolchain,
        "command": command,
        "environment": dict(sorted(environment.items())),
        "files": {path: hashlib.sha256(files[path]).hexdigest() for path in sorted(files)},
        "architecture": architecture,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class BuildCache:
    """Builds by key under one folder, at most `max_bytes` of them; the least recently used go first.

    Several processes may share the folder: files appear whole by a rename, and one that vanished is a miss.
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
        """Hold this while looking up and building: a second thread with the same key waits and then finds it done.

        Raises Cancelled where that is set while it waits.
        """
        with self._building.hold(key, cancelled):
            yield

    def get(self, key: str, limits: str) -> Build | None:
        """The kept build, marked `cached`; a failure counts only under the same limits."""
        path = self._path(key)
        try:
            data = path.read_bytes()
            build = _decode(key, data)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            path.unlink(missing_ok=True)  # cut short by a power failure, or of an older format
            return None
        with suppress(FileNotFoundError):
            os.utime(path)
        return build if build.succeeded or build.limits == limits else None

    def put(self, build: Build) -> None:
        """Keep a build, unless it is not worth keeping or larger than the whole cache."""
        data = _encode(build)
        if not build.worth_keeping or len(data) > self._max_bytes * KEEP_SHARE:
            return
        path = self._path(build.key)
        path.parent.mkdir(exist_ok=True)
        draft = path.with_name(f".{build.key}.{secrets.token_hex(4)}")
        draft.write_bytes(data)
        draft.replace(path)
        with self._counting:
            self._used_bytes += len(data)
            if self._used_bytes > self._max_bytes:
                self._evict()

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        for path in self._folder.glob("*/*"):
            with suppress(FileNotFoundError):
                facts = path.stat()
                yield facts.st_mtime, facts.st_size, path

    def _evict(self) -> None:
        entries = sorted(self._entries())
        self._used_bytes = sum(size for _, size, _ in entries)
        for _, size, path in entries:
            if self._used_bytes <= self._max_bytes * KEEP_SHARE:
                return
            path.unlink(missing_ok=True)
            self._used_bytes -= size


def _encode(build: Build) -> bytes:
    facts: dict[str, Any] = asdict(replace(build, product=EMPTY))
    del facts["product"], facts["cached"], facts["key"]
    facts["product_sha256"] = hashlib.sha256(build.product).hexdigest()
    return json.dumps(facts).encode() + b"\n" + build.product


def _decode(key: str, data: bytes) -> Build:
    head, _, product = data.partition(b"\n")
    facts = json.loads(head)
    if facts.pop("product_sha256") != hashlib.sha256(product).hexdigest():
        raise ValueError("the product does not have the digest that was noted with it")
    return Build(key=key, product=product, cached=True, **facts)
