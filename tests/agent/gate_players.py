"""What plays at gates in tests: programs over the library's header, and a page that a test writes itself."""

import ctypes
import mmap
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from runners.agent.gpu.gate import PAGE, Gate, Window
from runners.agent.gpu.porter import Porter
from runners.agent.gpu.record import DeviceRecord

NATIVE = Path(__file__).parents[2] / "runners" / "agent" / "profilers" / "native"
SOON = 5.0


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


def run(program: Path, gate: Gate, busy_ms: int, rest_ms: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [program, gate.path, str(busy_ms), str(rest_ms)], stdout=subprocess.PIPE, text=True, bufsize=1
    )


def until(condition: Any, seconds: float = SOON) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.001)
    return bool(condition())


class Player:
    """Plays the library in a process at a gate, step by step."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        with gate.path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), PAGE.size)
        self._words = (ctypes.c_uint32 * 4).from_buffer(self._page)
        self._starts = (ctypes.c_uint32 * 4).from_buffer(self._page, 24)
        self._last_use = ctypes.c_uint64.from_buffer(self._page, 16)

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
        let_in = until(lambda: self.is_open)
        self._words[1] = 0
        self._last_use.value = time.monotonic_ns()
        return let_in

    def rest(self, *, unsettled: bool = False) -> None:
        self._words[3] = unsettled
        self._last_use.value = time.monotonic_ns()
        self._words[2] = 0


@contextmanager
def playing(folder: Path, porter: Porter, *, alone: bool = True, **more: Any) -> Iterator[Player]:
    gate = gate_at(folder, porter, alone=alone, **more)
    with gate.attended():
        yield Player(gate)


@contextmanager
def device_taken(folder: Path, porter: Porter) -> Iterator[None]:
    with playing(folder / "taken", porter) as player:
        player.ask()
        assert player.work()
        yield
