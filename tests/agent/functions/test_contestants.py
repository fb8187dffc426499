"""Processes of contestants that are started ahead of their turn: they load a library, and no code of a solution."""

import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from problems.spec.function.problem import as_function
from problems.spec.record import ProblemRecord
from problems.spec.solution import FileSolution
from runners.agent.devices.lanes import Seat
from runners.agent.ground.events import Progress
from runners.agent.judges.function import contestants as contestants_module
from runners.agent.judges.function import judge as function_judge
from runners.agent.judges.function.contestants import Contestants, Entry, may_start_ahead
from runners.agent.judges.function.inside import messages, triton_ahead
from runners.agent.judges.function.subject import Subject
from runners.agent.judges.judgement import Assignment
from runners.agent.sandbox.policy import Command, Running
from runners.wire.protocol import Role, TimingPolicy, Verdict
from tests.agent.functions.table import LIMITS, SCALE, SCALE_CPP, SCALE_PYTHON, Table, problem, source
from tests.patience import SOON, until

MARKS_ITS_LOADING = f"open('loaded', 'w').close()\n{SCALE_PYTHON}"
FAILS = "def solution(x, y, n):\n    y[:] = 2 * x\n"


@pytest.fixture(scope="module")
def record() -> ProblemRecord:
    return problem(SCALE.replace("n=5000", "n=2_000_000"))


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here as on a GPU's node with many cores, and with few calls."""
    for name, value in (("least_calls", 3), ("most_calls", 3), ("enough_seconds", 0.0)):
        monkeypatch.setitem(function_judge.RANKED, name, value)
    monkeypatch.setattr(contestants_module, "may_start_ahead", lambda entry, _: entry.subject.stub == "python")


@pytest.fixture
def started(table: Table, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Command, Running]]]:
    found: list[tuple[Command, Running]] = []
    plain = table.environment.sandbox.start

    def start(command: Command, *ends: socket.socket) -> Running:
        running = plain(command, *ends)
        found.append((command, running))
        return running

    monkeypatch.setattr(table.environment.sandbox, "start", start)
    yield found
    assert until(lambda: all(one.has_ended for command, one in found if command.user != "checker"))


def entry_of(table: Table, record: ProblemRecord, solution: str) -> Entry:
    image = table.environment.image_for("")
    files = FileSolution(task_id=record.task_id, files=[source(solution)])
    return Entry(Subject.of(Assignment(record, "0" * 64, files, limits=LIMITS, image=image)))


def test_a_process_started_ahead_loads_its_solution_only_when_the_checker_lets_it(
    table: Table, record: ProblemRecord, ahead: None, started: list[tuple[Command, Running]]
) -> None:
    entry, progress = entry_of(table, record, MARKS_ITS_LOADING), Progress()
    with Contestants(table.environment, Seat(0)) as contestants:
        contestants.expect([entry], progress)
        (command, _) = started[0]
        with contestants.live(entry, progress) as live:
            assert len(started) == 1, "the prepared process is the one that is used"
            assert until(_has_loaded_numpy)
            time.sleep(0.3)
            assert not (command.workspace / "loaded").exists()
            live.channel.settimeout(SOON)
            live.channel.send(messages.head(messages.START))
            assert live.channel.recv(messages.MOST_BYTES)[4] == messages.LOADED
            assert (command.workspace / "loaded").exists()


def _has_loaded_numpy() -> bool:
    """Whether a contestant has numpy's library in its memory."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_contestant = b"\0judge.contestant\0" in (process / "cmdline").read_bytes()
            if is_contestant and "_multiarray_umath" in (process / "maps").read_text():
                return True
        except OSError:
            continue
    return False


def test_another_entrys_turn_ends_the_processes_that_were_started_ahead(
    table: Table, record: ProblemRecord, ahead: None, started: list[tuple[Command, Running]]
) -> None:
    first, second, progress = entry_of(table, record, SCALE_PYTHON), entry_of(table, record, SCALE_PYTHON), Progress()
    with Contestants(table.environment, Seat(0)) as contestants:
        contestants.expect([first, first, first], progress)
        with contestants.live(second, progress):
            assert [running.has_ended for _, running in started] == [True, True, False]
        contestants.start_ahead(progress)
        assert len(started) == 3, "whose turn comes next is no longer known"


def test_the_next_two_in_python_load_while_one_has_its_turn(
    table: Table, record: ProblemRecord, ahead: None, started: list[tuple[Command, Running]]
) -> None:
    native, python = (entry_of(table, record, text) for text in (SCALE_CPP, SCALE_PYTHON))
    progress = Progress()

    def alive() -> list[str]:
        return ["python" if "python3" in one.shell else "native" for one, run in started if not run.has_ended]

    with Contestants(table.environment, Seat(0)) as contestants:
        contestants.expect([python, native, python, python], progress)
        assert alive() == ["python"], "the third is two turns away"
        with contestants.live(python, progress):
            contestants.start_ahead(progress)
            assert alive() == ["python", "python"]
            of_third = started[1][1]
        with contestants.live(native, progress):
            contestants.start_ahead(progress)
            assert alive().count("python") == 2
        with contestants.live(python, progress):
            assert alive() == ["python", "python"]
            assert not of_third.has_ended, "it was kept while a native process had its turn"
            assert len({command.slot for command, run in started if not run.has_ended}) == 2
        contestants.expect([native], progress)
        assert alive() == []


@pytest.mark.rest
def test_six_processes_on_three_slots_give_the_times_of_six(
    table: Table,
    record: ProblemRecord,
    ahead: None,
    started: list[tuple[Command, Running]],
) -> None:
    done = table.judge(record, SCALE_PYTHON, timing_policy=TimingPolicy.RANKED)
    assert done.report.verdict is Verdict.PASSED
    contestants = [command for command, _ in started if "judge.contestant" in command.shell]
    sample = contestants[-6:]  # those before them calibrated
    assert [one.slot for one in sample[:3]] == [one.slot for one in sample[3:]]
    assert len({one.slot for one in sample}) == 3
    times = [one for one in done.report.measurements if one.role is Role.CANDIDATE]
    assert {len(one.runs_ms) for one in times} == {6}


def test_a_solution_that_fails_leaves_no_process_behind(
    table: Table, record: ProblemRecord, ahead: None, started: list[tuple[Command, Running]]
) -> None:
    done = table.judge(record, FAILS, timing_policy=TimingPolicy.RANKED)
    assert done.report.verdict is Verdict.WRONG_ANSWER


def test_only_python_on_a_gpu_with_cores_to_spare_is_started_ahead(
    table: Table, record: ProblemRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contestants_module, "cores", lambda: 8)
    python, native = (entry_of(table, record, text) for text in (SCALE_PYTHON, SCALE_CPP))
    assert as_function(record).device == "cpu"
    assert may_start_ahead(python, Seat(0, ("GPU-a",)))
    assert not may_start_ahead(python, Seat(0))
    assert not may_start_ahead(native, Seat(0, ("GPU-a",)))
    monkeypatch.setattr(contestants_module, "cores", lambda: 4)
    assert not may_start_ahead(python, Seat(0, ("GPU-a",)))


@pytest.mark.parametrize(
    ("solution", "uses"), [("import triton\n", True), ("from triton import jit\n", True), ("import torch\n", False)]
)
def test_triton_is_started_ahead_for_solutions_that_name_it(tmp_path: Path, solution: str, uses: bool) -> None:
    path = tmp_path / "solution.py"
    path.write_text(solution)
    assert triton_ahead.uses_triton(str(path)) is uses


def test_triton_that_cannot_start_ahead_is_left_to_the_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Utils:
        def __init__(self) -> None:
            asked.append("utils")
            raise RuntimeError("Failed to find C compiler.")

    for name in ("triton", "triton.backends", "triton.backends.nvidia"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    parts = {
        "triton.backends.compiler": {"GPUTarget": tuple},
        "triton.backends.nvidia.driver": {"CudaUtils": Utils},
        "triton.compiler": {"ASTSource": tuple},
        "triton.language": {"constexpr": int},
    }
    for name, members in parts.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**members))
    monkeypatch.setattr(sys.modules["triton"], "jit", lambda function: function, raising=False)
    monkeypatch.setattr(sys.modules["triton"], "language", sys.modules["triton.language"], raising=False)
    triton_ahead.start_triton()
    assert asked == ["utils"]
