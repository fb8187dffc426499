"""Holds a benchmark before its first work on a device until it may use the device alone.

A CUDA process needs a third of a second or more to start, nearly all of it on the host, and many benchmarks compute on
the host between their kernels. Benchmarks therefore run side by side and take turns only for their work on the device.
This has a cost: other programs replace the contents of the caches, which lengthens some kernels (docs/benchmarks.md).
Only `quick` times are measured this way. The profiler's library waits, in the benchmark's process, on a page that both
sides share (profilers/native/gate.h). A program that ignores the page adds noise and gains nothing.
"""

import os
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol

from runners.agent.devices.porter import Porter, PorterFailed
from runners.agent.devices.record import DeviceRecord
from runners.agent.ground.clock import TickClock

PAGE = struct.Struct("=IIIIQIIII")
"""struct GatePage: open, waiting, in_progress, unsettled, last_use_ns, starts_wanted, _granted, _done, never_stops."""
FILE = "gate"
CLOCK_SECONDS = 0.05
"""Interval between two checks of a run's own time."""

Window = tuple[int, int]
"""Start and end of a turn at the device, by `time.monotonic_ns`."""


class Watched(Protocol):
    """Watches a device within a `with` block. Read its record after the block."""

    def __enter__(self) -> object: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> bool | None: ...

    def narrow(self, windows: Sequence[Window]) -> None:
        """Restrict the record to these windows."""
        ...

    @property
    def record(self) -> DeviceRecord | None: ...


class Either(threading.Event):
    """An event that is set as soon as one of two events is set."""

    def __init__(self, one: threading.Event, other: threading.Event) -> None:
        super().__init__()
        self._events = one, other

    def is_set(self) -> bool:
        return any(event.is_set() for event in self._events)


@dataclass
class Gate:
    """One run at the gate of `porter`'s device.

    When the run's own time, without its waits, passes `limit_seconds`, `timed_out` and `cancelled` are set.
    """

    folder: Path
    porter: Porter
    alone: bool
    """Whether it needs the device alone. Otherwise it shares its turn with others that do not."""
    watch: Watched
    limit_seconds: float
    tell: Callable[[str, int], None] = lambda _change, _at_ns: None
    """Called with every change of the run's turn (`ask`, `hold`, `open`, `begin`, `close`) and its `monotonic_ns`."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    timed_out: bool = False
    clock_ns: Callable[[], int] = time.monotonic_ns
    windows: list[Window] = field(default_factory=list)
    _waited_ns: int = 0
    _waits_for: set[str] = field(default_factory=set)
    """`ask` for a turn, `hold` for a start. A run of two processes may wait for both."""
    _waits_since_ns: int = 0
    _opened_ns: int | None = None
    _deserted: bool = False
    _done: threading.Event = field(default_factory=threading.Event)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def path(self) -> Path:
        return self.folder / FILE

    @property
    def windows_seconds(self) -> float:
        return sum(until - since for since, until in self.windows) / 1e9

    @property
    def waited_seconds(self) -> float:
        with self._guard:
            now_ns = self.clock_ns()
            return (self._waited_ns + (now_ns - self._waits_since_ns if self._waits_for else 0)) / 1e9

    @property
    def record(self) -> DeviceRecord | None:
        """The device's record over all windows."""
        return self.watch.record

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Serve the gate while the block runs. Raises PorterFailed if the porter failed."""
        # Opened before the program runs, so that the program cannot replace the page through its name.
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(file, 0o666)
            os.write(file, bytes(PAGE.size))
            with self.watch:
                page = f"/proc/{os.getpid()}/fd/{file}"
                name = self.porter.admit(self, page, alone=self.alone)
                clock = threading.Thread(target=self._look_at_the_clock, name="gate", daemon=True)
                clock.start()
                try:
                    yield
                finally:
                    self._done.set()
                    self.porter.dismiss(name)
                    self._end()
                    clock.join()
        finally:
            os.close(file)
        self.watch.narrow(self.windows)
        if self._deserted:
            raise PorterFailed("the porter died while a benchmark waited at its gate")

    def told(self, event: str, at_ns: int) -> None:
        """See `GateClient`."""
        self.tell(event, at_ns)
        with self._guard:
            if event in {"ask", "hold"}:
                self._wait(event, at_ns)
            elif event == "open":
                self._wait_no_more("ask", at_ns)
                self._opened_ns = at_ns
            elif event == "close" and self._opened_ns is not None:
                self.windows.append((self._opened_ns, at_ns))
                self._opened_ns = None
            elif event == "begin":
                self._wait_no_more("hold", at_ns)

    def _wait(self, reason: str, at_ns: int) -> None:
        if not self._waits_for:
            self._waits_since_ns = at_ns
        self._waits_for.add(reason)

    def _wait_no_more(self, reason: str, at_ns: int) -> None:
        if reason in self._waits_for:
            self._waits_for.remove(reason)
            self._waited_ns += 0 if self._waits_for else at_ns - self._waits_since_ns

    def deserted(self) -> None:
        """See `GateClient`."""
        self._deserted = not self._done.is_set()
        self.cancelled.set()

    def _end(self) -> None:
        """End the waits and the turn that are still open."""
        now_ns = self.clock_ns()
        with self._guard:
            for reason in list(self._waits_for):
                self._wait_no_more(reason, now_ns)
            if self._opened_ns is not None:
                self.windows.append((self._opened_ns, now_ns))
            self._opened_ns = None

    def _look_at_the_clock(self) -> None:
        own_time = TickClock(lambda: self.clock_ns() / 1e9 - self.waited_seconds)
        started = own_time.now()
        while not self._done.wait(CLOCK_SECONDS):
            if own_time.now() - started > self.limit_seconds:
                self.timed_out = True
                self.cancelled.set()
                return
