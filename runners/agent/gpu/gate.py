"""Holds a benchmark before its first work on a device until it may have the device alone.

Starting a CUDA process takes a third of a second and more, nearly all of it on the host, so benchmarks start beside
each other and take turns only for what they do on the device. It is not free: starts beside a benchmark were seen to
lengthen some kernels (docs/benchmarks.md), so only `quick` times are taken so. The profiler's library waits, in the
benchmark's process, on a page that both sides share (profilers/native/gate.h). A program may ignore the page: that
makes noise, and gains it nothing.
"""

import os
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol

from runners.agent.gpu.record import DeviceRecord
from runners.agent.sandbox.policy import SandboxFault

PAGE = struct.Struct("=III4xQ")
"""open, waiting, in_progress, unused, last_use_ns: struct GatePage."""
OPEN_OFFSET, CLOSED, OPEN = 0, struct.pack("=I", 0), struct.pack("=I", 1)
FILE = "gate"
POLL_SECONDS = 0.001
ASLEEP_POLL_SECONDS = 0.002
"""While a program neither has the device nor waits for it."""
IDLE_SECONDS = 0.003
"""A program that leaves the device alone for so long lets others have it."""


@dataclass(frozen=True)
class _Page:
    waiting: int
    in_progress: int
    last_use_ns: int

    @property
    def is_idle(self) -> bool:
        unused_seconds = (time.monotonic_ns() - self.last_use_ns) / 1e9
        return not (self.waiting or self.in_progress) and unused_seconds > IDLE_SECONDS


class GateFailed(SandboxFault):
    """The node's side of a gate failed: a platform error, never the contestant's."""


def _nothing() -> None:
    pass


class Watched(Protocol):
    """Watches a device while it is entered, which may be often; its record is to be read once all that has ended."""

    def __enter__(self) -> object: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> bool | None: ...

    @property
    def record(self) -> DeviceRecord | None: ...


@dataclass
class Gate:
    """One run at the gate: a thread of its own gives it the device in `window` when it asks, and takes it back.

    `cancelled` is set, and `timed_out` with it, once the run has lasted longer than `limit_seconds` without its waits.
    """

    folder: Path
    window: Callable[[], AbstractContextManager[None]]
    is_wanted: Callable[[], bool]
    watch: Watched
    """Watches the device in every window."""
    limit_seconds: float
    has_started: Callable[[], None] = _nothing
    """Called when the program asks for the first time, if it ever does."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    timed_out: bool = False
    waited_seconds: float = 0.0
    windows_seconds: float = 0.0
    n_windows: int = 0
    _done: threading.Event = field(default_factory=threading.Event)
    _failure: Exception | None = None

    @property
    def path(self) -> Path:
        return self.folder / FILE

    @property
    def record(self) -> DeviceRecord | None:
        """What was seen of the device in all windows."""
        return self.watch.record

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Attend to the gate while the run goes on. Raises GateFailed where that went wrong."""
        # Opened before the program runs: whatever it does to the name, this stays the page. It is read, never mapped:
        # a program that cuts the file short could kill the node through a mapping.
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(file, 0o666)
            os.write(file, bytes(PAGE.size))
            thread = threading.Thread(target=self._attend, args=(file,), name="gate", daemon=True)
            thread.start()
            try:
                yield
            finally:
                self._done.set()
                thread.join()
        finally:
            os.close(file)
        if self._failure is not None:
            raise GateFailed(f"the gate failed while a benchmark waited at it: {self._failure!r}") from self._failure

    def _attend(self, file: int) -> None:
        try:
            self._attend_until_done(file)
        except Exception as error:  # noqa: BLE001 - a thread has nobody else to tell, and the program would wait for ever
            self._failure = error
            self.cancelled.set()

    def _attend_until_done(self, file: int) -> None:
        started = time.monotonic()
        while not self._done.wait(ASLEEP_POLL_SECONDS):
            page = _read(file)
            if page is not None and page.waiting:
                self.has_started()
                self._give(file, started)
            self._look_at_the_clock(started)

    def _give(self, file: int, started: float) -> None:
        asked = time.monotonic()
        with ExitStack() as stack:
            stack.enter_context(self.window())
            self.waited_seconds += time.monotonic() - asked
            if self._done.is_set():
                return
            stack.enter_context(self.watch)
            opened = time.monotonic()
            self.n_windows += 1
            while not self._closes(file):
                self._look_at_the_clock(started)
            self.windows_seconds += time.monotonic() - opened

    def _closes(self, file: int) -> bool:
        """Keep the gate open for a moment; true once it is closed and the program is quiet."""
        _write(file, OPEN)
        if self._done.wait(POLL_SECONDS):
            return True
        page = _read(file)
        if page is None or not page.is_idle or not self.is_wanted():
            return False
        _write(file, CLOSED)
        again = _read(file)
        return again is not None and again.is_idle

    def _look_at_the_clock(self, started: float) -> None:
        if time.monotonic() - started - self.waited_seconds > self.limit_seconds:
            self.timed_out = True
            self.cancelled.set()


def _read(file: int) -> _Page | None:
    """None where the program cut the file short: then it keeps what it has."""
    data = os.pread(file, PAGE.size, 0)
    return _Page(*PAGE.unpack(data)[1:]) if len(data) == PAGE.size else None


def _write(file: int, data: bytes) -> None:
    os.pwrite(file, data, OPEN_OFFSET)
