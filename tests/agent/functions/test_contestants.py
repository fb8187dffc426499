"""Processes that wait for solutions: they have loaded a library, and run no code of a solution before their turn."""

import socket
import sys
import time
from collections.abc import Hashable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from problems.spec.record import ProblemRecord
from problems.spec.solution import FileSolution
from runners.agent.devices.lanes import Seat
from runners.agent.ground.errors import SandboxFault
from runners.agent.ground.events import Progress
from runners.agent.job.job import Job
from runners.agent.judges.function import checkers as checkers_module
from runners.agent.judges.function import contestants as contestants_module
from runners.agent.judges.function import judge as function_judge
from runners.agent.judges.function import plans
from runners.agent.judges.function import waiting as function_waiting
from runners.agent.judges.function.contest import Contest
from runners.agent.judges.function.contestants import Contestants, Entry, Live
from runners.agent.judges.function.inside import messages, triton_ahead
from runners.agent.judges.function.subject import FunctionSubject
from runners.agent.judges.function.waiting import n_waiting, needs_of
from runners.agent.sandbox.policy import Command, Running
from runners.wire.job import JobPurpose, JobRules
from runners.wire.protocol import ResourceLimits, Role, TimingPolicy, Verdict
from tests.agent.functions.table import LIMITS, SCALE, SCALE_CPP, SCALE_PYTHON, Table, on_each_sandbox, problem, source
from tests.patience import SOON, until

MARKS_ITS_LOADING = f"open('loaded', 'w').close()\n{SCALE_PYTHON}"
FAILS = "def solution(x, y, n):\n    y[:] = 2 * x\n"


@pytest.fixture(scope="module")
def record() -> ProblemRecord:
    return problem(SCALE.replace("n=5000", "n=2_000_000"))


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here as on a GPU's node with many cores, and with few calls."""
    for name, value in (("least_calls", 3), ("most_calls", 3), ("enough_seconds", 0.0)):
        monkeypatch.setitem(plans.RANKED, name, value)
    monkeypatch.setattr(contestants_module, "n_waiting", lambda *_: 2)


@pytest.fixture
def contestants(table: Table) -> Iterator[Contestants]:
    opened = Contestants(table.environment)
    yield opened
    opened.close()


@pytest.fixture
def started(table: Table, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Command, Running]]:
    found: list[tuple[Command, Running]] = []
    plain = table.environment.sandbox.start

    def start(command: Command, *ends: socket.socket) -> Running:
        running = plain(command, *ends)
        found.append((command, running))
        return running

    monkeypatch.setattr(table.environment.sandbox, "start", start)
    return found


def entry_of(table: Table, record: ProblemRecord, solution: str, limits: ResourceLimits = LIMITS) -> Entry:
    image = table.environment.image_for("")
    files = FileSolution(task_id=record.task_id, files=[source(solution)])
    return Entry(FunctionSubject.of(Job(record, "0" * 64, files, JobRules(limits=limits), image=image)))


def alive(started: list[tuple[Command, Running]]) -> list[Command]:
    return [command for command, running in started if not running.has_ended]


def loaded(live: Live) -> None:
    """The checker has it load its solution."""
    live.channel.settimeout(SOON)
    live.channel.send(messages.head(messages.START))
    assert live.channel.recv(messages.MOST_BYTES)[4] == messages.LOADED


@on_each_sandbox
def test_a_process_loads_its_solution_only_when_the_checker_lets_it(
    table: Table,
    record: ProblemRecord,
    waiting: None,
    contestants: Contestants,
    started: list[tuple[Command, Running]],
) -> None:
    entry = entry_of(table, record, MARKS_ITS_LOADING)

    def one_has_loaded_numpy() -> bool:
        contestants.prepare(entry, Seat(0))  # again in the place of one that this machine was too busy to start
        return _has_loaded_numpy()

    assert until(one_has_loaded_numpy, tick=0.05)
    n_started, command = len(started), alive(started)[0]
    assert list(command.workspace.iterdir()) == [], "it does not know whose process it will be"
    with contestants.live(entry, Seat(0), Progress()) as live:
        assert len(started) == n_started, "one of those that waited is the one that is used"
        time.sleep(0.3)
        assert not (command.workspace / "loaded").exists()
        loaded(live)
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


def test_any_solution_with_the_same_limits_may_have_a_process_and_none_has_it_twice(
    table: Table,
    record: ProblemRecord,
    waiting: None,
    contestants: Contestants,
    started: list[tuple[Command, Running]],
) -> None:
    first, second = (entry_of(table, record, text) for text in (SCALE_PYTHON, MARKS_ITS_LOADING))
    contestants.prepare(first, Seat(0))
    with contestants.live(second, Seat(0), Progress()) as live:
        contestants.prepare(second, Seat(0))
        loaded(live)
        assert (started[0][0].workspace / "loaded").exists()
        assert len({one.slot for one in alive(started)}) == 3, "two wait again, each with a user of its own"
    assert len(alive(started)) == 2
    with contestants.live(first, Seat(0), Progress()):
        assert (started[1][0].workspace / "solution.py").read_text() == SCALE_PYTHON
    assert started[1][1].has_ended


def test_other_limits_end_the_processes_that_wait(
    table: Table,
    record: ProblemRecord,
    waiting: None,
    contestants: Contestants,
    started: list[tuple[Command, Running]],
) -> None:
    small, large = (
        entry_of(table, record, SCALE_PYTHON, LIMITS.model_copy(update={"memory_bytes": n << 20})) for n in (512, 600)
    )
    contestants.prepare(small, Seat(0))
    with contestants.live(large, Seat(0), Progress()) as live:
        loaded(live)
        assert [one.limits.memory_bytes >> 20 for one in alive(started)] == [512, 512, 600]
        contestants.prepare(large, Seat(0))
        assert [one.limits.memory_bytes >> 20 for one in alive(started)] == [600, 600, 600]


def test_a_process_that_ended_or_waited_for_long_is_not_used(
    table: Table,
    record: ProblemRecord,
    waiting: None,
    contestants: Contestants,
    started: list[tuple[Command, Running]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry = entry_of(table, record, SCALE_PYTHON)
    contestants.prepare(entry, Seat(0))
    started[0][1].stop()
    assert until(lambda: started[0][1].has_ended)
    with contestants.live(entry, Seat(0), Progress()) as live:
        loaded(live)
        assert not started[1][1].has_ended
        assert len(started) == 2
    contestants.prepare(entry, Seat(0))
    monkeypatch.setattr(function_waiting, "LONGEST_WAIT_SECONDS", 0.0)
    with contestants.live(entry, Seat(0), Progress()) as live:
        loaded(live)
        assert len(alive(started)) == 3
        contestants.prepare(entry, Seat(0))
        assert [running.has_ended for _, running in started] == [True] * 4 + [False] * 3


def test_a_native_process_is_never_used_in_advance(
    table: Table,
    record: ProblemRecord,
    waiting: None,
    contestants: Contestants,
    started: list[tuple[Command, Running]],
) -> None:
    native = entry_of(table, record, SCALE_CPP)
    contestants.prepare(native, Seat(0))
    assert started == []
    with contestants.live(native, Seat(0), Progress()):
        assert (started[0][0].workspace / "solution.cpp").exists()


@pytest.mark.rest
def test_six_processes_that_waited_give_the_times_of_six(
    table: Table,
    record: ProblemRecord,
    waiting: None,
    started: list[tuple[Command, Running]],
) -> None:
    done = table.judge(record, SCALE_PYTHON, timing_policy=TimingPolicy.RANKED)
    assert done.report.verdict is Verdict.PASSED
    used = [command for command, running in started if "judge.contestant" in command.shell and running.has_ended]
    assert len(used) == 7, "one calibrated, and each of the others served one turn"
    assert len(alive(started)) == 3, "a checker and two that wait"
    times = [one for one in done.report.measurements if one.role is Role.CANDIDATE]
    assert {len(one.runs_ms) for one in times} == {6}


def test_a_solution_that_fails_leaves_none_of_its_processes_behind(
    table: Table, record: ProblemRecord, waiting: None, started: list[tuple[Command, Running]]
) -> None:
    done = table.judge(record, FAILS, timing_policy=TimingPolicy.RANKED)
    assert done.report.verdict is Verdict.WRONG_ANSWER
    left = [list(one.workspace.iterdir()) for one in alive(started) if one.user == "contestant"]
    assert left
    assert not any(left), "those that wait have no solution"


def test_a_run_lasts_from_its_turn_on(table: Table, record: ProblemRecord, waiting: None) -> None:
    table.judge(record, SCALE_PYTHON, purpose=JobPurpose.TRIAL)
    time.sleep(3)
    began = time.monotonic()
    done = table.judge(record, SCALE_PYTHON, purpose=JobPurpose.TRIAL)
    assert 0 < done.report.steps[-1].wall_ms < 1e3 * min(3, time.monotonic() - began)


def test_on_a_cpu_python_gets_its_solution_when_it_starts(table: Table, record: ProblemRecord) -> None:
    assert table.judge(record, SCALE_PYTHON).report.verdict is Verdict.PASSED


@pytest.mark.parametrize(("n_cores", "n_gpus", "expected"), [(4, 1, 0), (8, 1, 2), (16, 1, 3), (16, 2, 2), (16, 4, 0)])
def test_processes_wait_for_a_gpu_that_has_cores_to_spare(
    table: Table, record: ProblemRecord, n_cores: int, n_gpus: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(function_waiting, "cores", lambda: n_cores)
    on_cpu, on_gpu = (entry_of(table, one, SCALE_PYTHON).subject for one in (record, of_a_gpu(record)))
    assert n_waiting(on_gpu, Seat(0, ("GPU-a",)), n_gpus) == expected
    assert n_waiting(on_cpu, Seat(0, ("GPU-a",)), n_gpus) == 0, "a GPU's node has problems for CPUs too"
    assert n_waiting(on_gpu, Seat(0), n_gpus) == 0


def of_a_gpu(record: ProblemRecord) -> ProblemRecord:
    return record.model_copy(update={"device": "gpu"})


def test_a_process_of_one_kind_serves_no_other(table: Table, record: ProblemRecord) -> None:
    def needs(record: ProblemRecord, **limits: int) -> Hashable:
        return needs_of(entry_of(table, record, SCALE_PYTHON, LIMITS.model_copy(update=limits)).subject)

    assert needs(record) == needs(record, build_seconds=7, file_bytes=7), (
        "what bounds builds and files does not bound it"
    )
    assert len({needs(record), needs(of_a_gpu(record)), needs(record, memory_bytes=7), needs(record, processes=7)}) == 4


def test_a_process_that_has_told_an_error_is_not_used(
    table: Table,
    record: ProblemRecord,
    waiting: None,
    contestants: Contestants,
    started: list[tuple[Command, Running]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = {**checkers_module.ENVIRONMENT, "PYTHONPATH": "/nowhere"}
    monkeypatch.setattr(contestants_module, "environment_for", lambda _: broken)
    entry = entry_of(table, record, SCALE_PYTHON)
    contestants.prepare(entry, Seat(0))
    monkeypatch.undo()
    assert until(lambda: all(running.has_ended for _, running in started))
    with contestants.live(entry, Seat(0), Progress()) as live:
        loaded(live)


def test_after_a_fault_a_sample_is_judged_again_by_processes_that_did_not_wait(
    table: Table,
    record: ProblemRecord,
    waiting: None,
    started: list[tuple[Command, Running]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain, faults = function_judge.contest, [SandboxFault("the machine stood still")]
    before: list[tuple[Command, Running]] = []

    def contest(*given: Any, **named: Any) -> Contest:
        if faults:
            before.extend(started)
            raise faults.pop()
        return plain(*given, **named)

    monkeypatch.setattr(function_judge, "contest", contest)
    other = LIMITS.model_copy(update={"memory_bytes": 513 << 20})  # nothing waits with these yet
    assert table.judge(record, SCALE_PYTHON, purpose=JobPurpose.TRIAL, limits=other).report.verdict is Verdict.PASSED
    assert before
    assert all(running.has_ended for _, running in before)


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
