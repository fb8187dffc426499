"""How a function problem is timed under `ranked`: six processes, until each is precise, beside an hourly baseline."""

from collections.abc import Sequence
from typing import Any

import pytest

from problems.spec.record import ProblemRecord
from runners.agent.judges.function import judge as function_judge
from runners.agent.judges.function import plans
from runners.agent.judges.function.contest import Contest
from runners.agent.judges.function.inside.calibration import WARM_UPS
from runners.agent.judges.function.inside.orders import CaseReply, DeviceFacts, HowEnded
from runners.agent.judges.function.inside.plan import Overhead, deviation
from runners.agent.judges.function.results import has_drifted, measurement
from runners.agent.judges.report import Finished
from runners.wire.protocol import MeasurementReport, Role, TimingPolicy, Verdict
from tests.agent.functions.table import ENDED, SCALE, SCALE_CPP, Table, problem, shown

COUNTED = """
#include <cstddef>
#include <cstdio>
#include <cstdlib>
static int calls = 0;
extern "C" void solution(const float* x, float* y, size_t n) {
    ++calls;
    for (size_t i = 0; i < n; ++i) y[i] = 3 * x[i] + (calls > 25 ? 1 : 0);
}
"""


@pytest.fixture(scope="module")
def large() -> ProblemRecord:
    """Its baseline takes twice as long as SCALE_CPP, and longer than the least that is timed."""
    twice = SCALE_CPP.replace("y[i] = 3 * x[i];", "{ y[i] = x[i] * 3; y[n - 1 - i] = 3 * x[n - 1 - i]; }")
    files = [{"path": "solution.cpp", "content": twice}]
    return problem(
        SCALE.replace("n=5000", "n=1_000_000"),
        baseline_solution={"type": "file", "task_id": "functions/1", "files": files},
    )


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("enough_seconds", 0.0), ("most_calls", 30)):
        monkeypatch.setitem(plans.RANKED, name, value)


@pytest.fixture
def few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("least_calls", "most_calls"):
        monkeypatch.setitem(plans.RANKED, name, 3)


def ranked(table: Table, record: ProblemRecord, solution: str = SCALE_CPP) -> Finished:
    return table.judge(record, solution, timing_policy=TimingPolicy.RANKED)


def time_of(done: Finished, role: Role) -> MeasurementReport:
    return next(one for one in done.report.measurements if one.case == "many" and one.role is role)


@pytest.mark.rest
def test_both_sides_have_six_processes_and_an_interval_over_their_medians(table: Table, large: ProblemRecord) -> None:
    done = ranked(table, large)
    assert (done.report.verdict, done.report.provenance.timing_policy) == (Verdict.PASSED, "ranked")
    for role in (Role.CANDIDATE, Role.BASELINE):
        one = time_of(done, role)
        assert len(one.runs_ms) == len(one.calls_ms) == 6
        assert all(len(calls) >= 30 for calls in one.calls_ms)
        assert one.ci_low_ms is not None
        assert one.ci_high_ms is not None
        assert one.ci_low_ms <= one.median_ms <= one.ci_high_ms
        assert min(one.runs_ms) <= one.median_ms <= max(one.runs_ms)


def test_an_error_that_only_a_later_call_shows_fails(table: Table, large: ProblemRecord) -> None:
    assert table.judge(large, COUNTED).report.verdict is Verdict.PASSED
    done = ranked(table, large, COUNTED)
    assert (done.report.verdict, done.report.measurements) == (Verdict.WRONG_ANSWER, [])


@pytest.mark.rest
def test_a_baseline_is_timed_anew_only_if_one_more_process_differs(
    table: Table, large: ProblemRecord, monkeypatch: pytest.MonkeyPatch, few_calls: None
) -> None:
    monkeypatch.setattr(function_judge, "RANKED_PROCESSES", 2)
    drifts: list[bool] = []
    monkeypatch.setattr(function_judge, "has_drifted", lambda *_: bool(drifts and drifts.pop()))
    first, second = (time_of(ranked(table, large), Role.BASELINE) for _ in range(2))
    assert second.key == first.key
    drifts.append(True)
    third = time_of(ranked(table, large), Role.BASELINE)
    assert third.key != first.key
    assert time_of(ranked(table, large), Role.BASELINE).key == third.key


def test_a_case_too_short_for_a_time_is_called_a_few_times_in_each_process(
    table: Table, large: ProblemRecord, monkeypatch: pytest.MonkeyPatch, few_calls: None
) -> None:
    monkeypatch.setattr(function_judge, "RANKED_PROCESSES", 2)
    done = ranked(table, large)
    n_calls = {case.name: shown(case)["n_calls"] for case in done.report.cases}
    assert n_calls == {"few": WARM_UPS + plans.SHORT["least_calls"], "many": WARM_UPS + 3}
    assert {one.case for one in done.report.measurements} == {"many"}


def test_a_short_case_is_checked_all_the_same(table: Table, large: ProblemRecord) -> None:
    wrong = SCALE_CPP.replace("3 * x[i];", "(n == 7 ? 4 : 3) * x[i];")
    done = ranked(table, large, wrong)
    assert (done.report.verdict, done.report.cases[0].verdict) == (Verdict.WRONG_ANSWER, Verdict.WRONG_ANSWER)


def contest_of(record: ProblemRecord, clock_ms: float, device: DeviceFacts | None = None) -> Contest:
    clock_ns = [round(clock_ms * 1e6)] * 30
    cases = [CaseReply(number, 30, clock_ns, [1000] * 30, 0.0, False, 1.0, 1.0, device=device) for number in range(2)]
    return Contest(tuple(cases), (0, 1), HowEnded.NOT, "", ENDED, 1.0)


def test_the_cost_of_a_go_is_the_median_of_the_processes_that_calibrated_it(
    table: Table, large: ProblemRecord, monkeypatch: pytest.MonkeyPatch, few_calls: None
) -> None:
    monkeypatch.setattr(function_judge, "calibrating_processes", lambda _: 3)
    monkeypatch.setattr(function_judge, "RANKED_PROCESSES", 2)
    seen: list[str] = []
    plain = function_judge.contest

    def counted(*given: Any, **named: Any) -> Contest:
        seen.append(type(given[4]).__name__)
        return plain(*given, **named)

    monkeypatch.setattr(function_judge, "contest", counted)
    record = large.model_copy(update={"task_id": "functions/3"})  # with a checker of its own
    assert table.judge(record, SCALE_CPP, timing_policy=TimingPolicy.RANKED).report.verdict is Verdict.PASSED
    assert seen == ["Calibrate"] * 3 + ["CallSample"] * 4, "two processes of each side follow"
    one = Overhead((90.0, 100.0, 130.0), 50.0)
    assert (one.call_ns, one.spread_ns) == (150, 40)


@pytest.mark.parametrize(("later_ms", "expected"), [(1.0, False), (1.02, False), (1.05, True), (0.95, True)])
def test_a_drift_is_a_difference_of_more_than_three_per_cent(
    large: ProblemRecord, later_ms: float, expected: bool
) -> None:
    runs = [contest_of(large, ms) for ms in (0.99, 1.0, 1.01)]
    assert has_drifted(large, runs, contest_of(large, later_ms)) is expected


ON_DEVICE = DeviceFacts("device", [0.0, 0.0], 30, 0, "", 0.0, 0.0)


@pytest.mark.parametrize(
    ("known_ms", "later_ms", "expected"),
    [(0.03, 0.0325, False), (0.03, 0.0275, False), (0.03, 0.0335, True), (1.0, 1.02, False), (1.0, 1.05, True)],
)
def test_by_the_device_s_clock_a_drift_is_also_more_than_three_microseconds(
    large: ProblemRecord, known_ms: float, later_ms: float, expected: bool
) -> None:
    runs = [contest_of(large, known_ms, ON_DEVICE) for _ in range(3)]
    fixed = tuple(case.name for case in large.manifest.cases[:2])
    assert has_drifted(large, runs, contest_of(large, later_ms, ON_DEVICE), fixed) is expected


STEADY_MS = [1.0] * 30


def published(record: ProblemRecord, *processes_ms: Sequence[float]) -> MeasurementReport:
    """The report of these calls, by process."""
    case, reply = record.manifest.cases[1], contest_of(record, 1.0).cases[1]
    replies = [reply._replace(clock_ns=[round(ms * 1e6) for ms in calls]) for calls in processes_ms]
    found = measurement(case, replies, Role.CANDIDATE)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("calls_ms", "is_noisy"),
    [
        ([1.0] * 20 + [1.004] * 10, False),
        ([1.0] * 20 + [1.006] * 10, True),
        ([0.996] * 10 + [1.0] * 20, False),
        ([0.994] * 10 + [1.0] * 20, True),
        ([1.0] * 21 + [2.0] * 9, False),
        ([1.0] * 5, True),
    ],
    ids=["0.4 % above", "0.6 % above", "0.4 % below", "0.6 % below", "nine calls far away", "too few for an interval"],
)
def test_a_process_is_noisy_if_the_interval_of_its_median_reaches_beyond_half_a_per_cent(
    large: ProblemRecord, calls_ms: list[float], is_noisy: bool
) -> None:
    """Of 30 calls, the interval reaches from the tenth to the twenty-first."""
    device = published(large, STEADY_MS, calls_ms, STEADY_MS).device
    assert device.get("noisy_processes") == (1 if is_noisy else None)


def test_each_noisy_process_is_counted_and_the_time_stays(large: ProblemRecord) -> None:
    noisy_ms = [0.9] * 10 + [1.0] * 10 + [1.1] * 10
    one = published(large, noisy_ms, STEADY_MS, noisy_ms)
    assert (one.device["noisy_processes"], one.median_ms, one.runs_ms) == (2, 1.0, [1.0] * 3)
    assert "noisy_processes" not in published(large, noisy_ms).device, "the one process of a `quick` time"


@pytest.mark.rest
def test_a_sample_whose_processes_are_all_noisy_passes_with_its_time(
    table: Table, large: ProblemRecord, monkeypatch: pytest.MonkeyPatch, few_calls: None
) -> None:
    monkeypatch.setattr(function_judge, "RANKED_PROCESSES", 2)
    done = ranked(table, large)
    assert (done.report.verdict, done.report.reason, done.report.flags) == (Verdict.PASSED, "", [])
    for role in (Role.CANDIDATE, Role.BASELINE):
        assert time_of(done, role).device["noisy_processes"] == 2, "three calls have no interval"


def test_a_deviation_is_that_of_the_medians_interval() -> None:
    times = list(range(1000, 1101))
    assert deviation(times) == pytest.approx(11 / 1050)  # ranks 40 and 62 of 101
    assert deviation([5.0] * 30) == 0
    assert deviation([1.0, 2.0, 3.0]) == float("inf")
    assert deviation([-1.0] * 50) == float("inf")
