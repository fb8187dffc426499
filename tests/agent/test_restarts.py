"""A node that starts again, within the hour, tests no reference and times no shared baseline a second time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from runners.agent import references, remembered, timing
from runners.agent.artefact import EMPTY
from runners.agent.errors import Cancelled
from runners.agent.gpu.record import DeviceRecord
from runners.agent.pipeline import Pipeline
from runners.agent.profilers.base import Reading, Timer
from runners.agent.profilers.facts import ProfileFacts, RangeFacts
from runners.agent.profilers.process import ProcessTime
from runners.agent.references import Reference, References
from runners.agent.runs import BenchmarkRun
from runners.agent.sandbox.policy import Command, Outcome, Sandbox, SandboxFault
from runners.agent.slots import Place
from runners.agent.task import Subject, Unwatched
from runners.agent.timing import Seats, Series
from runners.protocol import GpuCapability, MeasurementReport, Role, TimingPolicy, Verdict, Witness
from tests.agent.machine import LIMITS, Machine, shell_problem, task_of, temporary_folder

NOON = datetime(2020, 5, 4, 12, 0, tzinfo=UTC)
ENDED_WELL = Outcome(0, None, False, False, False, "", "", False, 100.0, 90.0, 1 << 20, Witness.SEEN)
REFERENCE = "sleep 0.05 # the reference"
TEST, BENCHMARK = "sh test.sh", "sh bench.sh"
TESTED, TIMED = "test", "benchmark"


@dataclass
class Counting:
    """A real sandbox that notes which runs of the reference it was asked for."""

    inner: Sandbox
    ran: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def memory_limit_by(self) -> str:
        return self.inner.memory_limit_by

    @property
    def memory_limit_why(self) -> str:
        return self.inner.memory_limit_why

    def run(self, command: Command) -> Outcome:
        solution = command.workspace / "solution.sh"
        if solution.exists() and solution.read_text(encoding="utf-8") == REFERENCE:
            self.ran.append({TEST: TESTED, BENCHMARK: TIMED}.get(command.shell, "build"))
        return self.inner.run(command)

    def why_no_gpus(self, uuids: tuple[str, ...]) -> str:
        return self.inner.why_no_gpus(uuids)

    def close(self) -> None:
        self.inner.close()


class Node(Machine):
    """A machine whose sandbox counts; `changes` are of its environment."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        super().__init__(folder)
        self.sandbox = Counting(self.environment.sandbox)
        self.environment = replace(self.environment, **{"sandbox": self.sandbox, **changes})
        self.pipeline = Pipeline(self.environment)

    def ran_for(self, problem: Any, **task: Any) -> list[str]:
        """What of the reference was run for one sample."""
        return self.baseline_of(problem, **task)[0]

    def baseline_of(self, problem: Any, **task: Any) -> tuple[list[str], MeasurementReport]:
        self.sandbox.ran.clear()
        report = self.judge(problem, {"solution.sh": "true"}, **task).report
        assert report.verdict is Verdict.PASSED
        (baseline,) = (one for one in report.measurements if one.role is Role.BASELINE)
        return list(self.sandbox.ran), baseline


Start = Callable[..., Node]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a node in a folder that is the same for all of one test."""
    nodes: list[Node] = []
    with temporary_folder() as folder:

        def make(**changes: Any) -> Node:
            nodes.append(Node(Path(folder), **changes))
            return nodes[-1]

        yield make
        for node in nodes:
            node.environment.close()


@pytest.fixture(autouse=True)
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Sets the clock to so long after noon, where it starts."""

    def set_to(after_noon: timedelta) -> None:
        monkeypatch.setattr(remembered, "now", lambda: NOON + after_noon)
        monkeypatch.setattr(timing, "_now", lambda: NOON + after_noon)

    set_to(timedelta())
    return set_to


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


def reference_of(problem: Any) -> Subject:
    reference = task_of(problem, {"solution.sh": "true"}).subject.reference
    assert reference is not None
    return reference


def circumstances_of(problem: Any, node: Node) -> dict[str, Any]:
    return dict(references.circumstances(node.environment, reference_of(problem), EMPTY))


def test_a_restarted_node_neither_tests_nor_times_the_reference_again(start: Start) -> None:
    assert start().ran_for(problem_of()) == [TESTED, TIMED]
    assert start().ran_for(problem_of()) == []


def test_a_solution_that_is_the_references_own_code_has_been_tested_for_it(start: Start) -> None:
    node = start()
    node.judge(problem_of(), {"solution.sh": REFERENCE})
    assert sorted(node.sandbox.ran) == [TIMED, TIMED, TESTED], "the solution's test and time, the baseline's time"
    assert start().ran_for(problem_of()) == []


def test_a_test_that_the_references_own_code_failed_says_nothing_of_the_reference(start: Start) -> None:
    node = start()
    failing = problem_of(context={"test.sh": "exit 3", "bench.sh": "sh solution.sh"})
    node.judge(failing, {"solution.sh": REFERENCE})
    assert node.sandbox.ran == [TESTED]
    assert start().environment.remembered.get(references._PASSED, circumstances_of(failing, node)) is None


def test_the_time_says_when_it_was_measured_first_and_by_whom(start: Start, at: Callable[[timedelta], None]) -> None:
    _, first = start().baseline_of(problem_of())
    at(timedelta(minutes=30))
    ran, second = start().baseline_of(problem_of())
    assert ran == []
    assert second == first
    assert second.measured_at == NOON.isoformat()
    assert second.shared
    assert second.key.endswith(f"@{NOON.isoformat()}@node-1")


def test_an_hour_later_test_and_baseline_are_run_again_and_not_when_the_clock_strikes(
    start: Start, at: Callable[[timedelta], None]
) -> None:
    at(timedelta(minutes=30))
    assert start().ran_for(problem_of()) == [TESTED, TIMED]
    at(timedelta(minutes=89, seconds=59))
    assert start().ran_for(problem_of()) == []
    at(timedelta(minutes=90))
    ran, baseline = start().baseline_of(problem_of())
    assert ran == [TESTED, TIMED]
    assert baseline.measured_at == (NOON + timedelta(minutes=90)).isoformat()
    assert f"@{baseline.measured_at}@" in baseline.key


def test_a_node_that_goes_on_running_times_a_baseline_again_after_an_hour(
    start: Start, at: Callable[[timedelta], None]
) -> None:
    at(timedelta(minutes=30))
    node = start()
    assert node.ran_for(problem_of()) == [TESTED, TIMED]
    at(timedelta(minutes=89))
    assert node.ran_for(problem_of()) == []
    at(timedelta(minutes=90))
    assert node.ran_for(problem_of()) == [TIMED], "that the reference passes is known for as long as it runs"
    assert start().ran_for(problem_of()) == [TESTED]


def test_a_baseline_of_the_future_is_timed_again_where_the_clock_was_set_back(
    start: Start, at: Callable[[timedelta], None]
) -> None:
    at(timedelta(minutes=30))
    node = start()
    assert node.ran_for(problem_of()) == [TESTED, TIMED]
    at(timedelta(minutes=29))
    assert node.ran_for(problem_of()) == [TIMED]


@pytest.mark.parametrize(
    "change",
    [
        {"tests": {"more": "a file"}},
        {"timeout_seconds": 7.0},
        {"context": {"test.sh": "sh solution.sh ", "bench.sh": "sh solution.sh"}},
    ],
)
def test_another_problem_is_tested_and_timed(start: Start, change: dict[str, Any]) -> None:
    start().ran_for(problem_of())
    assert start().ran_for(problem_of(**change)) == [TESTED, TIMED]


@pytest.mark.parametrize("what", ["name", "tools", "architecture", "kernel", "toolkit", "sandbox"])
def test_another_node_or_an_updated_one_tests_and_times(start: Start, what: str) -> None:
    known = start()
    assert known.ran_for(problem_of()) == [TESTED, TIMED]
    capabilities = known.environment.capabilities
    changes: dict[str, dict[str, Any]] = {
        "name": {"name": "node-2"},
        "tools": {"tools": "updated"},
        "architecture": {"architecture": "another processor"},
        "kernel": {"capabilities": capabilities.model_copy(update={"kernel": "updated"})},
        "toolkit": {"capabilities": capabilities.model_copy(update={"toolkits": {"nvcc": "13.1"}})},
        "sandbox": {"capabilities": capabilities.model_copy(update={"memory_limit_by": "another"})},
    }
    assert start(**changes[what]).ran_for(problem_of()) == [TESTED, TIMED]


def test_other_bounds_test_and_time_again(start: Start) -> None:
    start().ran_for(problem_of())
    more = LIMITS.model_copy(update={"processes": 65})
    assert start().ran_for(problem_of(), limits=more) == [TESTED, TIMED]


def test_another_device_timer_or_seat_is_another_baseline(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs are made up: this machine need not have the devices."""
    measured: list[tuple[str, str, Seats]] = []

    def one(_: object, subject: Subject, _product: bytes, timer: Timer, _watcher: object, seats: Seats) -> Series:
        measured.append((subject.place.device, timer.name, seats))
        return Series([BenchmarkRun(ENDED_WELL, Reading(1.0))])

    monkeypatch.setattr(timing.Stopwatch, "_one", one)
    monkeypatch.setattr(References, "prepare", lambda *_: Reference(passed=True))
    wanted = [
        (device, timer, seats) for device in ("GPU-1", "GPU-2") for timer in ("cupti 1", "cupti 2") for seats in Seats
    ]
    for _ in range(2):
        stopwatch = start().pipeline.stopwatch
        for device, name, seats in wanted:
            timer = ProcessTime()
            timer.name = name
            reference = replace(reference_of(problem_of()), place=Place("", device))
            stopwatch._shared_baseline(reference, timer, Unwatched(), seats)
    assert measured == wanted


def test_a_new_driver_of_the_device_makes_another_identity(start: Start) -> None:
    def identity(device: str, **drivers: str) -> Any:
        gpus = [GpuCapability(uuid=uuid, name="G", compute_capability="9.0", driver=d) for uuid, d in drivers.items()]
        known = node.environment.capabilities.model_copy(update={"gpus": gpus})
        return replace(node.environment, capabilities=known).identity(device)

    node = start()
    assert identity("A", A="580", B="580") == identity("A", A="580", B="590")
    assert identity("A", A="580") != identity("A", A="590")
    assert identity("A", A="580", B="580") != identity("B", A="580", B="580")


def test_a_build_that_is_gone_is_made_again_and_its_test_still_holds(start: Start) -> None:
    problem = problem_of(build_command="cp solution.sh built.sh")
    first = start()
    assert first.ran_for(problem) == ["build", TESTED, TIMED]
    for path in first.work_folder.parent.glob("builds/*/*"):
        path.unlink()
    assert start().ran_for(problem) == ["build"]


def test_a_build_that_comes_out_differently_is_tested_and_timed_again(start: Start) -> None:
    problem = problem_of(build_command="date +%N > built")
    first = start()
    assert first.ran_for(problem) == ["build", TESTED, TIMED]
    for path in first.work_folder.parent.glob("builds/*/*"):
        path.unlink()
    assert start().ran_for(problem) == ["build", TESTED, TIMED]


def test_damaged_files_are_as_none(start: Start) -> None:
    first = start()
    first.ran_for(problem_of())
    kept = list((first.work_folder.parent / "remembered").iterdir())
    assert len(kept) == 2
    for path in kept:
        path.write_bytes(path.read_bytes()[:-2])
    assert start().ran_for(problem_of()) == [TESTED, TIMED]
    assert start().ran_for(problem_of()) == []


def test_ranked_timing_measures_its_own_baseline(start: Start) -> None:
    start().ran_for(problem_of())
    ran, baseline = start().baseline_of(problem_of(), timing_policy=TimingPolicy.RANKED)
    assert ran == [TIMED] * 6
    assert not baseline.shared
    assert baseline.key == ""


@pytest.mark.parametrize(
    "context",
    [
        {"test.sh": "grep -q true solution.sh"},
        {"test.sh": "grep -q true solution.sh || sleep 20"},
        {"test.sh": "true", "bench.sh": "grep -q true solution.sh"},
        {"test.sh": "true", "bench.sh": "grep -q true solution.sh || sleep 20"},
    ],
)
def test_a_failure_is_not_remembered(start: Start, context: dict[str, str]) -> None:
    """It may have been the machine's: a wedged device, a crowd, a limit of ours."""
    problem = problem_of(context={"bench.sh": "true", **context}, timeout_seconds=1.0)
    for _ in range(2):
        node = start()
        node.judge(problem, {"solution.sh": "true"})
        failing = TESTED if context["test.sh"] != "true" else TIMED
        assert failing in node.sandbox.ran
        assert failing != TESTED or TIMED not in node.sandbox.ran


@pytest.mark.parametrize("end", [SandboxFault("no room"), Cancelled()])
def test_a_fault_or_a_cancelled_test_is_not_remembered(
    start: Start, monkeypatch: pytest.MonkeyPatch, end: Exception
) -> None:
    node = start()
    reference = reference_of(problem_of())

    def fails(_self: object, _command: Command) -> Outcome:
        raise end

    with monkeypatch.context() as patch:
        patch.setattr(Counting, "run", fails)
        with pytest.raises(type(end)):
            node.pipeline.references.prepare(reference, Unwatched())
    assert start().ran_for(problem_of()) == [TESTED, TIMED]


def test_all_that_was_seen_of_a_baseline_comes_back(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts, metrics and the device's record of a GPU, which need not be here: the series is made by hand."""
    one_range = RangeFacts(3, 0, 1.25, 0.7, 5, 0.1, 0.0, 0.8, 0.05, 0)
    facts = ProfileFacts(1, 0, 0, 1 / 3, 9, 0.2, 0.0, 1.5, 0.0, 0, {"k<int>": 9}, {"timed": one_range})
    outcome = Outcome(0, None, False, False, False, "", "", False, 123.4, 99.9, 1 << 20, Witness.SEEN, "main ended")
    device = DeviceRecord(12, 120.0, 1980.0, throttled_share=0.0, busy_ms=2.5, power_w=None)
    run = BenchmarkRun(outcome, Reading(1 / 3, facts=facts), device, among_others=True)
    measured: list[Seats] = []

    def one(_self: object, _subject: object, _product: bytes, _timer: object, _watcher: object, seats: Seats) -> Series:
        measured.append(seats)
        return Series([run])

    monkeypatch.setattr(timing.Stopwatch, "_one", one)
    reference = reference_of(problem_of())
    made, found = (
        start().pipeline.stopwatch._shared_baseline(reference, ProcessTime(), Unwatched(), Seats.BESIDE)
        for _ in range(2)
    )
    assert measured == [Seats.BESIDE]
    assert found is not None
    assert found == made
    assert found.series.runs == [run]
    assert found.series.observed == Series([run]).observed


def test_a_throttled_baseline_is_not_remembered(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    hot = DeviceRecord(12, 120.0, throttle_reasons=("hw_thermal_slowdown",), throttled_share=1.0)
    measured: list[int] = []

    def one(*_: object) -> Series:
        measured.append(1)
        return Series([BenchmarkRun(ENDED_WELL, Reading(1.0), hot)])

    monkeypatch.setattr(timing.Stopwatch, "_one", one)
    reference = reference_of(problem_of())
    for _ in range(2):
        start().pipeline.stopwatch._shared_baseline(reference, ProcessTime(), Unwatched(), Seats.BESIDE)
    assert len(measured) == 2
