"""A benchmark that is known to take long begins beside its test, and counts only where that passes."""

import time
from pathlib import Path
from typing import Any

import pytest

from problems.spec.problem import CommandProblem
from runners.agent import pipeline
from runners.agent.durations import kind_of_benchmark
from runners.agent.early import begun
from runners.agent.errors import Cancelled
from runners.agent.profilers.base import Attachment, Reading
from runners.agent.sandbox.policy import Mount, Outcome
from runners.agent.task import Unwatched, Watcher
from runners.protocol import Clock, Profiler, TimingPolicy, Verdict
from tests.agent.machine import Machine, shell_problem, task_of

TEST_SECONDS = 1.5


class Notes:
    """A timer that notes when the benchmark began and how its one command ended."""

    clock = Clock.IN_PROCESS
    name = "notes"
    patience = 1.0
    for_graphs = None

    def __init__(self, *, waits_at_gate: bool) -> None:
        self.waits_at_gate = waits_at_gate
        self.began: list[float] = []
        self.ended: list[Outcome] = []

    def attach(self, shell: str, notes: Path) -> Attachment:
        self.began.append(time.monotonic())
        return Attachment(shell, {}, (Mount(notes, str(notes), writable=True),))

    def read(self, _problem: CommandProblem, _notes: Path, outcome: Outcome) -> Reading:
        self.ended.append(outcome)
        return Reading(5.0)

    def own_failure(self, _notes: Path, _outcome: Outcome) -> str:
        return ""


def problem(**changes: Any) -> CommandProblem:
    fields = {
        "test_command": f"sleep {TEST_SECONDS}",
        "timing_mode": {"type": "kernels"},
        "benchmark_command": "true",
        "baseline_solution": None,
    }
    return shell_problem(**fields | changes)


@pytest.mark.parametrize(
    ("known_seconds", "waits_at_gate", "begins_early"),
    [(None, True, False), (19.0, True, False), (21.0, True, True), (21.0, False, False)],
)
def test_only_a_long_one_that_may_run_beside_others_begins_beside_its_test(
    fresh_machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    known_seconds: float | None,
    waits_at_gate: bool,
    begins_early: bool,
) -> None:
    timer = Notes(waits_at_gate=waits_at_gate)
    monkeypatch.setattr(pipeline, "timer_for", lambda *_: timer)
    began, finished = time.monotonic(), judge(fresh_machine, problem(), known_seconds)
    assert (finished.report.verdict, finished.outputs.solution_ms) == (Verdict.PASSED, 5.0)
    assert len(timer.began) == len(timer.ended) == 1
    assert (timer.began[0] - began < TEST_SECONDS) == begins_early


def judge(machine: Machine, given: CommandProblem, known_seconds: float | None) -> Any:
    task = task_of(given, {"solution.py": ""})
    if known_seconds is not None:
        kind = kind_of_benchmark(task.subject.problem_sha256, TimingPolicy.QUICK, Profiler.NONE)
        machine.environment.durations.add((kind,), known_seconds)
    return machine.pipeline.run(task)


def test_a_test_that_fails_stops_the_benchmark_which_leaves_nothing(
    fresh_machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    timer = Notes(waits_at_gate=True)
    monkeypatch.setattr(pipeline, "timer_for", lambda *_: timer)
    given = problem(test_command="sleep 0.5; exit 3", benchmark_command="sleep 30")
    began, finished = time.monotonic(), judge(fresh_machine, given, 40.0)
    assert finished.report.verdict is Verdict.TEST_FAILED
    assert time.monotonic() - began < 10
    assert (len(timer.began), timer.ended) == (1, [])
    assert finished.outputs.solution_ms is None
    assert [step.name for step in finished.report.steps] == ["build", "test"]
    assert not finished.report.flags


def test_one_that_fails_beside_others_is_measured_again_as_ever(
    fresh_machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    timer = Notes(waits_at_gate=True)
    monkeypatch.setattr(pipeline, "timer_for", lambda *_: timer)
    finished = judge(fresh_machine, problem(benchmark_command="exit 3"), 40.0)
    assert finished.report.verdict is Verdict.PASSED
    assert [flag.code for flag in finished.report.flags] == ["benchmark_failed"]
    assert len(timer.began) == 2


def test_what_the_work_raises_is_raised_to_whoever_wants_its_result() -> None:
    def work(_watcher: Watcher) -> int:
        raise ValueError("broken")

    with begun(work, Unwatched()) as result, pytest.raises(ValueError, match="broken"):
        result()
    with begun(work, Unwatched()):
        pass


def test_who_is_cancelled_has_its_work_cancelled() -> None:
    watcher = Unwatched()

    def work(own: Watcher) -> int:
        while not own.cancelled.is_set():
            time.sleep(0.01)
        raise Cancelled

    with begun(work, watcher) as result:
        watcher.cancelled.set()
        with pytest.raises(Cancelled):
            result()
