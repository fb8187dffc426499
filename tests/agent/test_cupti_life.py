"""How a recorded process begins and ends: what it leaves when it exits, forks, is killed or switches the recorder off.

The real library over a stand-in for CUPTI (fake_cupti.cpp), which does not work without a GPU.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.agent.profilers.cupti import ONE_AT_A_TIME
from runners.agent.profilers.cupti_library import Library
from runners.agent.profilers.cupti_merge import facts_of, sum_ranges
from runners.agent.profilers.cupti_notes import Notes, read_notes
from runners.agent.profilers.facts import ProfileFacts
from tests.agent.cupti_stand_in import library_over_stand_in, program_in
from tests.agent.machine import temporary_folder
from tests.requirements import requires

pytestmark = requires("nvcc")


@pytest.fixture(scope="module")
def room() -> Iterator[Path]:
    with temporary_folder() as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def library(room: Path) -> Library:
    return library_over_stand_in(room)


@pytest.fixture(scope="module")
def program(room: Path) -> Path:
    return program_in(room)


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

    def lead(self, *how: str, code: int = 0, **environment: str) -> Notes | None:
        done = subprocess.run(
            [str(self.program), *how],
            env={**self.environment, **environment},
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")
        return read_notes(self.notes, 60_000)

    def facts(self, how: str, code: int = 0) -> ProfileFacts:
        notes = self.lead(how, code=code)
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


@pytest.mark.parametrize(("kernels", "untimed"), [(1, 0), (4, 3)])
def test_graphs_whose_kernels_have_no_times_are_told_of(life: Life, kernels: int, untimed: int) -> None:
    notes = life.lead("graph", str(kernels), **ONE_AT_A_TIME)
    assert notes is not None
    (process,) = notes.processes
    assert (process.graph_launches, process.launches, process.incomplete) == (1, 1, untimed)
    assert process.has_untimed_graphs == (untimed > 0)


def test_graphs_are_timed_kernel_by_kernel_where_kernels_may_overlap(life: Life) -> None:
    notes = life.lead("graph", "4")
    assert notes is not None
    (process,) = notes.processes
    assert (process.graph_launches, process.launches, process.missing) == (1, 4, 0)
    assert not process.has_untimed_graphs


def test_work_cut_off_at_the_end_is_no_graph(life: Life) -> None:
    notes = life.lead("in flight", **ONE_AT_A_TIME)
    assert notes is not None
    assert [(one.incomplete, one.has_untimed_graphs) for one in notes.processes] == [(3, False)]


def test_a_subscription_that_somebody_ended_is_told_of(life: Life) -> None:
    assert life.facts("unsubscribe").dropped_records == 1


def test_a_child_that_starts_cuda_is_recorded_by_itself_and_counts_for_its_parents_range(life: Life) -> None:
    facts = life.facts("fork first")
    assert facts.processes == 1
    region = facts.ranges["bench_region"]
    assert (region.instances, region.launches, region.foreign_launches) == (1, 3, 3)
    assert facts.outside_launches == 0
