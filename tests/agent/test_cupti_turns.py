"""Which calls of a program wait for its turn at the gate, and what is waited for before a turn ends."""

import os
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.agent.devices.gate import PAGE
from tests.agent.cupti_stand_in import driver_in, library_over_stand_in, program_in
from tests.agent.machine import temporary_folder
from tests.patience import SOON, until
from tests.requirements import requires

pytestmark = requires("nvcc")
LONG_COPY = str(1 << 20)
SETTLE_SECONDS = 1.0
"""As in turns.cpp."""


class Stand:
    """The shared parts of a module's tests: the library, a program over it, and a driver for those that want one."""

    def __init__(self, room: Path) -> None:
        self.library = library_over_stand_in(room).path
        self.program = program_in(room)
        self.driver = driver_in(room)


@pytest.fixture(scope="module")
def stand() -> Iterator[Stand]:
    with temporary_folder() as folder:
        yield Stand(Path(folder))


class Turn:
    """The node's side of a closed gate, which lets processes start."""

    def __init__(self, stand: Stand, folder: Path) -> None:
        self.stand = stand
        self.page, self.calls, notes = folder / "gate", folder / "calls", folder / "notes"
        notes.mkdir()
        self.calls.touch()
        self.environment = {
            **os.environ,
            "CUDA_INJECTION64_PATH": str(stand.library),
            "PODIUM_CUPTI_NOTES": str(notes),
            "PODIUM_GATE": str(self.page),
            "WAITED": str(self.calls),
        }
        self.lay()

    def lay(self, *, unsettled: int = 0) -> None:
        self.page.write_bytes(PAGE.pack(0, 0, 0, unsettled, 0, 0, 9, 0, 0))

    def run(self, *words: str, driver: bool = False, **environment: str) -> subprocess.Popen[bytes]:
        loaded = {"LD_PRELOAD": str(self.stand.driver)} if driver else {}
        return subprocess.Popen([str(self.stand.program), *words], env={**self.environment, **loaded, **environment})

    def read(self) -> tuple[int, ...]:
        return PAGE.unpack(self.page.read_bytes())

    def open(self) -> None:
        self._write_open(1)

    def close(self) -> None:
        self._write_open(0)

    def _write_open(self, word: int) -> None:
        with self.page.open("r+b") as file:
            file.write(struct.pack("=I", word))

    @property
    def told(self) -> list[str]:
        """The calls that the driver got."""
        return self.calls.read_text().splitlines()


@pytest.fixture
def turn(stand: Stand, tmp_path: Path) -> Turn:
    return Turn(stand, tmp_path)


def waits_for_its_turn(turn: Turn, process: subprocess.Popen[bytes]) -> bool:
    """Whether it stands at the gate; it is then let in, and ends."""
    until(lambda: turn.read()[1] > 0 or process.poll() is not None)
    waits = turn.read()[1] > 0
    turn.open()
    assert process.wait(SOON) == 0
    return waits


@pytest.mark.parametrize("words", [("return",), ("copy", "4096")])
def test_launches_and_short_copies_wait_for_their_turn(turn: Turn, words: tuple[str, ...]) -> None:
    assert waits_for_its_turn(turn, turn.run(*words))
    _, waiting, in_progress, *_, wanted, granted, done, _ = turn.read()
    assert (waiting, in_progress) == (0, 0)
    assert (wanted, granted, done) == (1, 9, 1), "it asked before it started, and told that it had"


@pytest.mark.parametrize("words", [("wait",), ("copy", LONG_COPY)])
def test_waits_and_long_copies_need_no_turn(turn: Turn, words: tuple[str, ...]) -> None:
    turn.lay(unsettled=1)
    assert not waits_for_its_turn(turn, turn.run(*words))
    _, waiting, in_progress, unsettled, *_ = turn.read()
    assert (waiting, in_progress) == (0, 0)
    assert unsettled == (0 if words == ("wait",) else 1)


def test_kernels_before_a_long_copy_keep_the_turn_until_they_are_done(turn: Turn) -> None:
    assert waits_for_its_turn(turn, turn.run("launch and copy", driver=True)), "for the launch"
    assert turn.told == ["load 1230 0", "wait for stream 1 1"], "the legacy stream, while one call uses the device"
    _, waiting, in_progress, unsettled, *_ = turn.read()
    assert (waiting, in_progress, unsettled) == (0, 0, 0)


def test_without_the_drivers_function_the_copy_keeps_the_turn(turn: Turn) -> None:
    assert waits_for_its_turn(turn, turn.run("launch and copy"))
    _, waiting, in_progress, unsettled, *_ = turn.read()
    assert (waiting, in_progress, unsettled) == (0, 0, 1)


def test_where_copies_are_timed_long_ones_wait_as_well(turn: Turn) -> None:
    assert waits_for_its_turn(turn, turn.run("copy", str(1 << 30), PODIUM_GATE_COPIES="1"))


def most_in_progress(turn: Turn, process: subprocess.Popen[bytes]) -> int:
    """How many calls used the device at a time, until the program ended."""
    seen = 0
    while process.poll() is None:
        seen = max(seen, turn.read()[2])
        time.sleep(0.001)
    assert process.wait(SOON) == 0
    return seen


@pytest.mark.parametrize("unsettled", [0, 1])
def test_without_the_drivers_function_memory_given_back_keeps_the_turn_where_kernels_may_run_still(
    turn: Turn, unsettled: int
) -> None:
    turn.lay(unsettled=unsettled)
    assert most_in_progress(turn, turn.run("free")) == unsettled
    _, waiting, in_progress, after, *_ = turn.read()
    assert (waiting, in_progress, after) == (0, 0, unsettled)


def opened_once_wanted(turn: Turn, process: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
    assert until(lambda: turn.read()[1])
    turn.open()
    return process


QUERIED = ["load 1230 0", *["query 70 1"] * 3]
"""The stream of the launch, until it is done, with the turn kept."""


def test_kernels_are_waited_for_before_memory_is_given_back_which_needs_no_turn(turn: Turn) -> None:
    process = opened_once_wanted(turn, turn.run("launch and free", driver=True))
    assert until(lambda: turn.told == QUERIED)
    time.sleep(0.1)
    assert process.poll() is None
    assert turn.read()[1:4] == (0, 0, 0), "while the memory is given back"
    assert process.wait(SOON) == 0


@pytest.mark.parametrize(
    ("calls", "queried"),
    [
        (["graph"], ["query 50 1"] * 3),
        (["fill"], ["query 50 1"] * 3),
        (["launch"], ["query 50 1"] * 3),
        (["launch", "destroy"], []),  # there is nothing left to ask
        (["per thread"], None),
        (["peer"], None),
    ],
)
def test_work_is_known_by_the_stream_that_its_call_names_else_a_free_keeps_the_turn(
    turn: Turn, calls: list[str], queried: list[str] | None
) -> None:
    process = opened_once_wanted(turn, turn.run("use and free", *calls, driver=True))
    time.sleep(0.2)
    assert process.poll() is None
    assert turn.read()[2] == (queried is None), "while the memory is given back"
    assert process.wait(SOON) == 0
    assert turn.told == (queried or [])


REFUSED, INVALIDATED, WRONG_THREAD = "1", "901", "908"


@pytest.mark.parametrize(
    ("begins", "ends", "first", "second"),
    [("0", "0", 1, 0), ("0", INVALIDATED, 1, 0), ("0", WRONG_THREAD, 1, 1), (REFUSED, REFUSED, 0, 0)],
)
def test_nothing_is_asked_of_the_driver_while_a_stream_is_captured(
    turn: Turn, begins: str, ends: str, first: int, second: int
) -> None:
    """Some questions would end the capture. A free before whose end nothing is asked keeps the turn."""
    process = opened_once_wanted(turn, turn.run("free in capture", begins, ends, driver=True))
    time.sleep(0.15)
    assert turn.read()[2] == first
    time.sleep(0.3)
    assert turn.read()[2] == second
    assert process.wait(SOON) == 0
    assert turn.told == (QUERIED if second == 0 else QUERIED[:1])


def test_code_is_loaded_once_before_the_turn_that_launches_it(turn: Turn) -> None:
    process = turn.run("launch", "3", driver=True)
    assert until(lambda: turn.read()[1])
    assert turn.told == ["load 1230 0"], "while it waits"
    turn.open()
    assert process.wait(SOON) == 0
    assert turn.told == ["load 1230 0"]


def test_of_a_librarys_kernel_the_function_is_loaded(turn: Turn) -> None:
    assert waits_for_its_turn(turn, turn.run("launch", "1", driver=True, LIBRARY="1"))
    assert turn.told == ["load 1230 0", "load 2230 0"]


def closed_again(turn: Turn, process: subprocess.Popen[bytes]) -> float:
    """Let it in once, and close the gate on its next launch. Seconds from there until it waits again."""
    opened_once_wanted(turn, process)
    assert until(lambda: turn.read()[1:3] == (0, 0))
    since = time.monotonic()
    turn.close()
    assert until(lambda: turn.read()[1])
    return time.monotonic() - since


def test_who_is_called_back_in_the_midst_of_its_work_waits_for_it_first(turn: Turn) -> None:
    process = turn.run("launch apart", "2", driver=True)
    closed_again(turn, process)
    assert turn.read()[1:4] == (1, 1, 0), "it waits, and nothing of it runs on"
    assert turn.told == QUERIED
    turn.open()
    assert process.wait(SOON) == 0


def test_work_that_ends_only_with_what_is_launched_next_is_waited_for_once_and_not_for_ever(turn: Turn) -> None:
    process = turn.run("launch apart", "3", driver=True, NEVER="1")
    assert closed_again(turn, process) > SETTLE_SECONDS
    *_, never_stops = turn.read()
    assert (*turn.read()[1:4], never_stops) == (1, 1, 1, 1), "it waits, and something may run on"
    assert closed_again(turn, process) < SETTLE_SECONDS
    assert turn.read()[1:4] == (1, 1, 1)
    turn.open()
    assert process.wait(SOON) == 0
