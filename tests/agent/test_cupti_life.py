"""How a recorded process begins and ends: what it leaves when it exits, forks, is killed or switches the recorder off.

The real library over a stand-in for CUPTI (fake_cupti.cpp), which does not work without a GPU.
"""

import os
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.agent.gpu.gate import PAGE
from runners.agent.profilers.cupti_library import Library, Toolkit, build, find_toolkit
from runners.agent.profilers.cupti_merge import facts_of, sum_ranges
from runners.agent.profilers.cupti_notes import Notes, read_notes
from runners.agent.profilers.facts import ProfileFacts
from tests.agent.machine import temporary_folder
from tests.requirements import requires

pytestmark = requires("nvcc")
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def room() -> Iterator[Path]:
    with temporary_folder() as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def library(room: Path) -> Library:
    includes = find_toolkit().includes
    fake = room / "libcupti.so.13"
    arguments = ["-std=c++17", "-fPIC", "-shared", f"-Wl,-soname,{fake.name}", *(f"-I{path}" for path in includes)]
    subprocess.run(["g++", *arguments, str(HERE / "fake_cupti.cpp"), "-o", str(fake)], check=True)
    return build(Toolkit(includes, fake), room / "cache")


@pytest.fixture(scope="module")
def program(room: Path) -> Path:
    made = room / "program"
    includes = [f"-I{path}" for path in find_toolkit().includes]
    source = str(HERE / "cupti_life_program.cpp")
    subprocess.run(["g++", "-std=c++17", *includes, source, "-o", str(made), "-ldl"], check=True)
    return made


class Life:
    """Runs the program to one of its ends."""

    def __init__(self, library: Library, program: Path, notes: Path) -> None:
        self.program = program
        self.notes = notes
        self.environment = {
            **os.environ,
            "CUDA_INJECTION64_PATH": str(library.path),
            "NVTX_INJECTION64_PATH": str(library.path),
            "PODIUM_CUPTI_NOTES": str(notes),
        }

    def lead(self, how: str, code: int = 0) -> Notes | None:
        done = subprocess.run(
            [str(self.program), how], env=self.environment, capture_output=True, timeout=60, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")
        return read_notes(self.notes, 60_000)

    def facts(self, how: str, code: int = 0) -> ProfileFacts:
        notes = self.lead(how, code)
        assert notes is not None
        return facts_of(notes, sum_ranges(notes.processes))


@pytest.fixture
def life(library: Library, program: Path, tmp_path: Path) -> Life:
    return Life(library, program, tmp_path)


@pytest.mark.parametrize("how", ["return", "quick_exit", "fork later"])
def test_a_process_that_ends_in_order_leaves_all_it_did(life: Life, how: str) -> None:
    facts = life.facts(how)
    assert (facts.processes, facts.unfinished, facts.dropped_records) == (1, 0, 0)
    assert (facts.launches, facts.outside_launches) == (6, 2)
    assert (facts.kernel_ms, facts.ranges["bench_region"].kernel_ms) == (6, 4)
    assert facts.kernels == {"spin": 6}


def test_one_that_ends_at_once_by__exit_leaves_the_mark_of_its_begin(life: Life) -> None:
    notes = life.lead("_exit")
    assert notes is not None
    assert notes.unfinished == 1


@pytest.mark.parametrize(("how", "code"), [("rest and _exit", 0), ("rest and die", -signal.SIGKILL)])
def test_one_that_rests_before_it_dies_loses_nothing(life: Life, how: str, code: int) -> None:
    facts = life.facts(how, code)
    assert (facts.processes, facts.unfinished) == (1, 1)
    assert (facts.launches, facts.ranges["bench_region"].launches) == (6, 4)


def test_one_that_never_rests_is_heard_of_all_the_same(life: Life) -> None:
    facts = life.facts("busy and _exit")
    assert facts.unfinished == 1
    assert 60 < facts.launches <= 156
    assert facts.dropped_records <= 1


def test_a_reset_of_the_device_loses_nothing(life: Life) -> None:
    facts = life.facts("reset")
    assert (facts.launches, facts.ranges["bench_region"].instances, facts.dropped_records) == (12, 2, 0)


def test_kernels_that_still_run_at_the_end_are_counted_as_lost(life: Life) -> None:
    facts = life.facts("in flight")
    assert (facts.launches, facts.dropped_records) == (6, 3)


def test_a_recorder_that_is_switched_off_tells_of_the_launches_it_missed(life: Life) -> None:
    facts = life.facts("stop recording")
    assert (facts.launches, facts.dropped_records, facts.unfinished) == (0, 6, 0)


def test_a_subscription_that_somebody_ended_is_told_of(life: Life) -> None:
    assert life.facts("unsubscribe").dropped_records == 1


def test_a_child_that_starts_cuda_is_recorded_by_itself_and_counts_for_its_parents_range(life: Life) -> None:
    facts = life.facts("fork first")
    assert facts.processes == 1
    region = facts.ranges["bench_region"]
    assert (region.instances, region.launches, region.foreign_launches) == (1, 3, 3)
    assert facts.outside_launches == 0


# ---- at the gate ---------------------------------------------------------------------------------------------------


class Turn:
    """The node's side of a closed gate, which lets processes start."""

    def __init__(self, life: Life, folder: Path) -> None:
        self.page = folder / "gate"
        self.page.write_bytes(PAGE.pack(0, 0, 0, 1, 0, 0, 9, 0, 0))
        self.life = life

    def run(self, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        told = {**self.life.environment, "PODIUM_GATE": str(self.page), **environment}
        return subprocess.Popen([str(self.life.program), *words], env=told)

    def read(self) -> tuple[int, ...]:
        return PAGE.unpack(self.page.read_bytes())

    def open(self) -> None:
        with self.page.open("r+b") as file:
            file.write(struct.pack("=I", 1))


@pytest.fixture
def turn(life: Life, tmp_path: Path) -> Turn:
    return Turn(life, tmp_path)


def waits_for_its_turn(turn: Turn, process: subprocess.Popen[bytes]) -> bool:
    """Whether it stands at the gate; it is then let in, and ends."""
    deadline = time.monotonic() + 5
    while not (waits := turn.read()[1] > 0) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    turn.open()
    assert process.wait(5) == 0
    return waits


@pytest.mark.parametrize("words", [("return",), ("copy", "4096")])
def test_launches_and_short_copies_wait_for_their_turn(turn: Turn, words: tuple[str, ...]) -> None:
    assert waits_for_its_turn(turn, turn.run(*words))
    _, waiting, in_progress, *_, wanted, granted, done, _ = turn.read()
    assert (waiting, in_progress) == (0, 0)
    assert (wanted, granted, done) == (1, 9, 1), "it asked before it started, and told that it had"


@pytest.mark.parametrize("words", [("wait",), ("copy", str(1 << 20))])
def test_waits_and_long_copies_need_no_turn(turn: Turn, words: tuple[str, ...]) -> None:
    assert not waits_for_its_turn(turn, turn.run(*words))
    _, waiting, in_progress, unsettled, *_ = turn.read()
    assert (waiting, in_progress) == (0, 0)
    assert unsettled == (0 if words == ("wait",) else 1)


DRIVER = """
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
// Tells which stream is waited for, and how many calls use the device meanwhile.
extern "C" int cuStreamSynchronize(std::intptr_t stream) {
    std::uint32_t page[3];
    FILE* gate = std::fopen(std::getenv("PODIUM_GATE"), "rb");
    if (std::fread(page, sizeof page, 1, gate) != 1) std::exit(7);
    FILE* told = std::fopen(std::getenv("WAITED"), "w");
    std::fprintf(told, "%d %u", static_cast<int>(stream), page[2]);
    return std::fclose(told);
}
"""


def test_kernels_before_a_long_copy_keep_the_turn_until_they_are_done(turn: Turn, room: Path, tmp_path: Path) -> None:
    driver, waited = room / "libcuda.so.1", tmp_path / "waited"
    if not driver.exists():
        (room / "driver.cpp").write_text(DRIVER)
        arguments = ["-shared", "-fPIC", f"-Wl,-soname,{driver.name}", "-o", str(driver), str(room / "driver.cpp")]
        subprocess.run(["g++", *arguments], check=True)
    process = turn.run("launch and copy", LD_PRELOAD=str(driver), WAITED=str(waited))
    assert waits_for_its_turn(turn, process), "for the launch"
    assert waited.read_text() == "1 1", "the legacy stream, while one call uses the device"
    _, waiting, in_progress, unsettled, *_ = turn.read()
    assert (waiting, in_progress, unsettled) == (0, 0, 0)


@pytest.mark.parametrize("unsettled", [0, 1])
def test_memory_given_back_keeps_the_turn_where_kernels_may_run_still(turn: Turn, unsettled: int) -> None:
    turn.page.write_bytes(PAGE.pack(0, 0, 0, unsettled, 0, 0, 9, 0, 0))
    process = turn.run("free")
    deadline = time.monotonic() + 5
    seen = 0
    while process.poll() is None and time.monotonic() < deadline:
        seen = max(seen, turn.read()[2])
        time.sleep(0.005)
    assert process.wait(5) == 0
    _, waiting, in_progress, after, *_ = turn.read()
    assert (seen, waiting, in_progress, after) == (unsettled, 0, 0, unsettled)


def test_without_the_drivers_function_the_copy_keeps_the_turn(turn: Turn) -> None:
    assert waits_for_its_turn(turn, turn.run("launch and copy"))
    _, waiting, in_progress, unsettled, *_ = turn.read()
    assert (waiting, in_progress, unsettled) == (0, 0, 1)


def test_where_copies_are_timed_long_ones_wait_as_well(turn: Turn) -> None:
    assert waits_for_its_turn(turn, turn.run("copy", str(1 << 30), PODIUM_GATE_COPIES="1"))
