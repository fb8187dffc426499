"""Holds a benchmark before its first work on a device until it may have the device alone.

Starting a CUDA process takes a third of a second and more, nearly all of it on the host, and many benchmarks compute on
the host between their kernels, so benchmarks run beside each other and take turns only for what they do on the device.
It is not free: caches that others have used in between lengthen some kernels (docs/benchmarks.md), so only `quick`
times are taken so. The profiler's library waits, in the benchmark's process, on a page that both sides share
(profilers/native/gate.h). A program may ignore the page: that makes noise, and gains it nothing.
"""

import math
import os
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol

from runners.agent.gpu.porter import Porter, PorterFailed
from runners.agent.gpu.record import DeviceRecord

PAGE = struct.Struct("=IIIIQIIII")
"""struct GatePage: open, waiting, in_progress, unsettled, last_use_ns, starts_wanted, _granted, _done, never_stops."""
FILE = "gate"
CLOCK_SECONDS = 0.05
"""How often a run's own time is looked at."""

Window = tuple[int, int]
"""From and until when a run had the device, by `time.monotonic_ns`."""


class Watched(Protocol):
    """Watches a device while it is entered; its record is to be read once that has ended."""

    def __enter__(self) -> object: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> bool | None: ...

    def narrow(self, windows: Sequence[Window]) -> None:
        """Let only these stretches count."""
        ...

    @property
    def record(self) -> DeviceRecord | None: ...


@dataclass
class Gate:
    """One run at the gate of `porter`'s device.

    `cancelled` is set, and `timed_out` with it, once the run has lasted longer than `limit_seconds` without its waits.
    """

    folder: Path
    porter: Porter
    alone: bool
    """Whether it wants the device for itself, or shares its turn with others that do not."""
    watch: Watched
    limit_seconds: float
    is_long: bool = False
    """See `Porter.admit`."""
    expected_seconds: float = math.inf
    """How long the sample is to run still, see `Porter.admit`."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    timed_out: bool = False
    windows: list[Window] = field(default_factory=list)
    _waited_ns: int = 0
    _waits_for: set[str] = field(default_factory=set)
    """`ask`, a turn; `hold`, a start: of one process the one and of another the other, it may be both."""
    _waits_since_ns: int = 0
    _opened_ns: int | None = None
    _deserted: bool = False
    _done: threading.Event = field(default_factory=threading.Event)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def path(self) -> Path:
        return self.folder / FILE

    @property
    def n_windows(self) -> int:
        return len(self.windows)

    @property
    def windows_seconds(self) -> float:
        return sum(until - since for since, until in self.windows) / 1e9

    @property
    def waited_seconds(self) -> float:
        with self._guard:
            now_ns = time.monotonic_ns()
            return (self._waited_ns + (now_ns - self._waits_since_ns if self._waits_for else 0)) / 1e9

    @property
    def record(self) -> DeviceRecord | None:
        """What was seen of the device in all windows."""
        return self.watch.record

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Attend to the gate while the run goes on. Raises PorterFailed where that went wrong."""
        # Opened before the program runs: whatever it does to the name, this stays the page.
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(file, 0o666)
            os.write(file, bytes(PAGE.size))
            with self.watch:
                page = f"/proc/{os.getpid()}/fd/{file}"
                name = self.porter.admit(
                    self, page, alone=self.alone, is_long=self.is_long, seconds=self.expected_seconds
                )
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
        """See `porter.Client`."""
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
        """See `porter.Client`."""
        self._deserted = not self._done.is_set()
        self.cancelled.set()

    def _end(self) -> None:
        """Close what the porter could not."""
        now_ns = time.monotonic_ns()
        with self._guard:
            for reason in list(self._waits_for):
                self._wait_no_more(reason, now_ns)
            if self._opened_ns is not None:
                self.windows.append((self._opened_ns, now_ns))
            self._opened_ns = None

    def _look_at_the_clock(self) -> None:
        started = time.monotonic()
        while not self._done.wait(CLOCK_SECONDS):
            if time.monotonic() - started - self.waited_seconds > self.limit_seconds:
                self.timed_out = True
                self.cancelled.set()
                return
