"""Players at gates in tests: programs over the library's header, and a page that a test writes itself."""

import ctypes
import mmap
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from runners.agent.devices.gate import PAGE, Gate, Window
from runners.agent.devices.porter import Porter
from runners.agent.devices.record import DeviceRecord
from tests.patience import until

NATIVE = Path(__file__).parents[2] / "runners" / "agent" / "profilers" / "native"


class Seen(nullcontext[None]):
    record = DeviceRecord(1, 2.0, busy_ms=1.0)
    windows: Sequence[Window] = ()

    def narrow(self, windows: Sequence[Window]) -> None:
        self.windows = windows


def compiled(folder: Path, source: str, *flags: str) -> Path:
    (folder / "main.cpp").write_text(source)
    command = ["g++", "-std=c++17", *flags, f"-I{NATIVE}", "-o", str(folder / "main"), str(folder / "main.cpp")]
    subprocess.run(command, check=True)
    return folder / "main"


def gate_at(folder: Path, porter: Porter, limit_seconds: float = 60.0, **more: Any) -> Gate:
    folder.mkdir(exist_ok=True)
    return Gate(folder, porter, more.pop("alone", True), Seen(), limit_seconds, **more)


class Player:
    """Plays the library in a process at a gate, step by step, by writing to the gate's page."""

    def __init__(
        self,
        page: Path,
        clock_ns: Callable[[], int] = time.monotonic_ns,
        until: Callable[[Callable[[], bool]], bool] = until,
    ) -> None:
        self.page = page
        self._clock_ns, self._until = clock_ns, until
        with page.open("r+b") as file:
            mapped = mmap.mmap(file.fileno(), PAGE.size)
        self._words = (ctypes.c_uint32 * 4).from_buffer(mapped)
        self._starts = (ctypes.c_uint32 * 4).from_buffer(mapped, 24)
        self._last_use = ctypes.c_uint64.from_buffer(mapped, 16)

    @property
    def is_open(self) -> bool:
        return bool(self._words[0])

    @property
    def last_use_ns(self) -> int:
        return self._last_use.value

    def want_start(self) -> None:
        self._starts[0] += 1

    @property
    def may_start(self) -> bool:
        return self._starts[1] == self._starts[0]

    def have_started(self) -> None:
        self._starts[2] += 1

    def never_stops(self) -> None:
        self._starts[3] = 1

    def ask(self) -> None:
        self._words[2] = 1
        self._words[1] = 1

    def work(self) -> bool:
        """Go on working once let in; False if that takes long."""
        let_in = self._until(lambda: self.is_open)
        self._words[1] = 0
        self._last_use.value = self._clock_ns()
        return let_in

    def rest(self, *, unsettled: bool = False) -> None:
        self._words[3] = unsettled
        self._last_use.value = self._clock_ns()
        self._words[2] = 0


@contextmanager
def playing(folder: Path, porter: Porter, *, alone: bool = True, **more: Any) -> Iterator[Player]:
    gate = gate_at(folder, porter, alone=alone, **more)
    with gate.attended():
        yield Player(gate.path)


@contextmanager
def device_taken(folder: Path, porter: Porter) -> Iterator[None]:
    with playing(folder / "taken", porter) as player:
        player.ask()
        assert player.work()
        yield
