"""A `quick` baseline is timed next to its samples, again after a few of them or minutes, and in every process."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from runners.agent.ground.errors import Cancelled, SandboxFault
from runners.agent.judges.baselines import SAMPLES, SECONDS, Baselines
from runners.agent.judges.registry import Judges
from runners.agent.sandbox.policy import Command, Outcome, Sandbox
from runners.wire.protocol import MeasurementReport, Role, TimingPolicy, Verdict
from tests.agent.machine import LIMITS, Machine, shell_problem, temporary_folder
from tests.patience import SOON

REFERENCE = "sleep 0.05 # the reference"
TEST, BENCHMARK = "sh test.sh", "sh bench.sh"
TESTED, TIMED = "test", "benchmark"


class Numbers:
    """Gives 1, 2, 3 …, one for each baseline that is timed."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self) -> int:
        self.n += 1
        return self.n


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


FAILED = 0


def has_failed(timed: int) -> bool:
    return timed == FAILED


def test_a_few_samples_share_a_baseline() -> None:
    baselines: Baselines[int] = Baselines(has_failed, Clock())
    time_it = Numbers()
    shared = [baselines.near("p", time_it) for _ in range(2 * SAMPLES + 1)]
    assert shared == [1] * SAMPLES + [2] * SAMPLES + [3]


def test_an_old_baseline_is_timed_again() -> None:
    clock, time_it = Clock(), Numbers()
    baselines: Baselines[int] = Baselines(has_failed, clock)
    assert baselines.near("p", time_it) == 1
    clock.now = SECONDS - 1
    assert baselines.near("p", time_it) == 1
    clock.now = SECONDS
    assert baselines.near("p", time_it) == 2


def test_every_key_has_its_own_baseline() -> None:
    baselines: Baselines[int] = Baselines(has_failed, Clock())
    time_it = Numbers()
    assert [baselines.near(key, time_it) for key in ("p", "q", "p", "q")] == [1, 2, 1, 2]


def test_threads_that_want_a_baseline_at_once_time_it_once() -> None:
    baselines: Baselines[int] = Baselines(has_failed)
    ready, time_it = Barrier(SAMPLES), Numbers()

    def near(_: int) -> int:
        ready.wait(SOON)
        return baselines.near("p", time_it)

    with ThreadPoolExecutor(SAMPLES) as pool:
        assert list(pool.map(near, range(SAMPLES))) == [1] * SAMPLES


def test_a_baseline_that_could_not_be_timed_is_tried_again() -> None:
    baselines: Baselines[int] = Baselines(has_failed, Clock())

    def fails() -> int:
        raise SandboxFault("no room")

    with pytest.raises(SandboxFault):
        baselines.near("p", fails)
    assert baselines.near("p", Numbers()) == 1


def test_a_baseline_that_failed_is_not_shared() -> None:
    baselines: Baselines[int] = Baselines(has_failed, Clock())
    assert baselines.near("p", lambda: FAILED) == FAILED
    assert baselines.near("p", Numbers()) == 1


@dataclass
class Counting:
    """A real sandbox that notes which runs of the reference it was asked for."""

    inner: Sandbox
    ran: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def run(self, command: Command) -> Outcome:
        solution = command.workspace / "solution.sh"
        if solution.exists() and solution.read_text(encoding="utf-8") == REFERENCE:
            self.ran.append({TEST: TESTED, BENCHMARK: TIMED}.get(command.shell, "build"))
        return self.inner.run(command)


class Node(Machine):
    """A machine whose sandbox counts."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.sandbox: Any = Counting(self.environment.sandbox)
        self.environment = replace(self.environment, sandbox=self.sandbox)
        self.judges = Judges(self.environment)

    def ran_for(self, problem: Any, **task: Any) -> list[str]:
        """The runs of the reference for one sample."""
        return self.baseline_of(problem, **task)[0]

    def baseline_of(self, problem: Any, **task: Any) -> tuple[list[str], MeasurementReport]:
        self.sandbox.ran.clear()
        report = self.judge(problem, {"solution.sh": "true"}, **task).report
        assert report.verdict is Verdict.PASSED
        (baseline,) = (one for one in report.measurements if one.role is Role.BASELINE)
        return list(self.sandbox.ran), baseline


@pytest.fixture
def start() -> Iterator[Callable[[], Node]]:
    """Starts a node in a folder that is the same for all of one test."""
    nodes: list[Node] = []
    with temporary_folder() as folder:

        def make() -> Node:
            nodes.append(Node(Path(folder)))
            return nodes[-1]

        yield make
        for node in nodes:
            node.environment.close()


def problem_of(**changes: Any) -> Any:
    fields = {
        "build_command": None,
        "test_command": TEST,
        "benchmark_command": BENCHMARK,
        "timing_mode": {"type": "process"},
        "context": {"test.sh": "sh solution.sh", "bench.sh": "sh solution.sh"},
        "baseline": {"solution.sh": REFERENCE},
    }
    return shell_problem(**fields | changes)


def test_a_node_tests_a_reference_once_and_times_it_for_every_few_samples(start: Callable[[], Node]) -> None:
    node = start()
    ran = [node.ran_for(problem_of()) for _ in range(SAMPLES + 1)]
    assert ran == [[TESTED, TIMED], *[[]] * (SAMPLES - 1), [TIMED]]


def test_a_shared_baseline_says_when_it_was_measured(start: Callable[[], Node]) -> None:
    node = start()
    (_, first), (_, second) = node.baseline_of(problem_of()), node.baseline_of(problem_of())
    assert first == second
    assert first.shared
    assert first.key.endswith(f"@{first.measured_at}@node-1")


def test_a_restarted_node_tests_and_times_the_reference_again(start: Callable[[], Node]) -> None:
    assert start().ran_for(problem_of()) == [TESTED, TIMED]
    assert start().ran_for(problem_of()) == [TESTED, TIMED]


def test_other_problems_and_other_bounds_are_tested_and_timed(start: Callable[[], Node]) -> None:
    node = start()
    node.ran_for(problem_of())
    assert node.ran_for(problem_of(timeout_seconds=7.0)) == [TESTED, TIMED]
    more = LIMITS.model_copy(update={"processes": 65})
    assert node.ran_for(problem_of(), limits=more) == [TESTED, TIMED]


def test_a_solution_that_is_the_references_own_code_has_been_tested_for_it(start: Callable[[], Node]) -> None:
    node = start()
    node.judge(problem_of(), {"solution.sh": REFERENCE})
    assert sorted(node.sandbox.ran) == [TIMED, TIMED, TESTED], "the solution's test and time, the baseline's time"
    assert node.ran_for(problem_of()) == []


def test_a_test_that_the_references_own_code_failed_says_nothing_of_the_reference(start: Callable[[], Node]) -> None:
    node = start()
    failing_once = problem_of(context={"test.sh": "grep -q x seen || exit 3", "bench.sh": "true"})
    node.judge(failing_once, {"solution.sh": REFERENCE})
    assert node.sandbox.ran == [TESTED]
    node.sandbox.ran.clear()
    passing = {"solution.sh": "true", "seen": "x"}
    node.judge(failing_once, passing)
    assert node.sandbox.ran == [TESTED], "the reference itself, which fails, so that nothing is timed"


def test_ranked_timing_measures_its_own_baseline(start: Callable[[], Node]) -> None:
    node = start()
    node.ran_for(problem_of())
    ran, baseline = node.baseline_of(problem_of(), timing_policy=TimingPolicy.RANKED)
    assert ran == [TIMED] * 6
    assert not baseline.shared
    assert baseline.key == ""


@pytest.mark.parametrize("end", [SandboxFault("no room"), Cancelled()])
def test_a_reference_whose_test_met_a_fault_is_tested_again(
    start: Callable[[], Node], monkeypatch: pytest.MonkeyPatch, end: Exception
) -> None:
    node = start()

    def fails(self: Counting, command: Command) -> Outcome:
        if (command.workspace / "solution.sh").read_text(encoding="utf-8") == REFERENCE:
            raise end
        return self.inner.run(command)

    with monkeypatch.context() as patch:
        patch.setattr(Counting, "run", fails)
        with pytest.raises(type(end)):
            node.judge(problem_of(), {"solution.sh": "true"})
    assert node.ran_for(problem_of()) == [TESTED, TIMED]


def test_a_kept_baseline_that_does_not_serve_a_sample_is_timed_anew() -> None:
    baselines, time_it = Baselines[int](), Numbers()
    assert baselines.near("p", time_it) == 1
    assert baselines.near("p", time_it, serves=lambda one: one != 1) == 2
    assert baselines.near("p", time_it) == 2
