"""Device events, which the contestant tells: compared with the checker's clock, and shown as Tensara's engine would."""

import math

import pytest

from problems.spec.function.manifest import ManifestCase
from runners.agent.judges.function.as_tensara import mean_as_tensara, rate_as_tensara_2025
from runners.agent.judges.function.contest import Contest
from runners.agent.judges.function.inside.clock import Status, Times
from runners.agent.judges.function.inside.match import event_facts
from runners.agent.judges.function.inside.plan import Overhead
from runners.agent.judges.function.results import LEAST_MS, events_disagree, findings, measurement, refined_ms
from runners.wire.protocol import MeasurementReport, Role
from tests.agent.functions.table import ENDED, SCALE, problem

UNSTEADY = [1.0, 2.0] * 20


def reply(clock_ms: float, told_ms: float, gap_us: float = 8.0, spread_us: float = 4.0) -> dict[str, object]:
    return {
        "clock_ns": [clock_ms * 1e6 + 500_000] * 5, "overhead_ns": 500_000.0,
        "overhead_spread_ns": 20_000.0, "whole_ms": [told_ms] * 5,
        "gap_ns": gap_us * 1e3, "gap_spread_ns": spread_us * 1e3,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("clock_ms", "told_ms", "is_other"),
    [(4.44, 4.32, False), (0.03, 0.025, False), (4.44, 3.9, True), (1.0, 1.2, True), (0.3, 0.1, True)],
)
def test_events_that_contradict_the_clock_are_noticed(clock_ms: float, told_ms: float, is_other: bool) -> None:
    assert events_disagree(reply(clock_ms, told_ms)) is is_other


def test_a_gap_that_a_known_solution_has_too_is_no_contradiction() -> None:
    assert events_disagree(reply(1.0, 0.4))
    assert not events_disagree(reply(1.0, 0.4, gap_us=590))
    assert not events_disagree(reply(1.0, 0.4, spread_us=190))


def test_calls_that_a_busy_machine_lengthened_are_no_contradiction() -> None:
    disturbed = [0.45] * 6 + [0.7, 0.9, 1.5, 4.0] * 6
    assert not events_disagree(reply(1.0, 0.4) | {"clock_ns": [ms * 1e6 + 500_000 for ms in disturbed]})


def test_events_that_tell_less_than_the_quickest_calls_are_noticed() -> None:
    disturbed = [0.55] * 6 + [0.7, 0.9, 1.5, 4.0] * 6
    assert events_disagree(reply(1.0, 0.4) | {"clock_ns": [ms * 1e6 + 500_000 for ms in disturbed]})


def flags(of_processes: list[dict[str, object]]) -> list[str]:
    """Codes of a sample's findings, whose processes answered so in its one case."""
    told = {"case": 0, "is_short": False, "n_slow_writes": 0}
    runs = [Contest((one | told,), (0,), "", "", ENDED, 1.0, is_on_gpu=True) for one in of_processes]
    return [one.code for one in findings(problem(SCALE), runs)]


def test_one_process_with_other_events_counts_if_it_can_move_the_time() -> None:
    plain, other = reply(1.0, 1.0), reply(0.7, 1.0)
    assert flags([plain] * 6) == []
    assert flags([other]) == flags([plain, other, plain]) == ["other_events"]
    assert flags([plain] * 5 + [other]) == []
    assert flags([plain, other, plain, plain, other, plain]) == ["other_events"]


def test_no_events_contradict_nothing() -> None:
    silent = {name: value for name, value in reply(1.0, 0.0).items() if name != "whole_ms"}
    assert not events_disagree(silent)


def call(whole_ms: float, events_ms: float) -> Times:
    return Times(Status.DONE, 10**6, 0, 10**6, 0, 0, 0, "", whole_ms, events_ms)


def test_events_are_used_if_every_call_has_both() -> None:
    assert event_facts([call(1.0, 0.9)] * 2, Overhead())["events_ms"] == [0.9, 0.9]
    assert event_facts([call(1.0, 0.9), call(0.0, 0.9)], Overhead()) == {}
    assert event_facts([call(1.0, 0.0)], Overhead()) == {}
    assert event_facts([], Overhead()) == {}


def test_todays_figure_is_the_mean_of_the_calls_until_they_are_steady() -> None:
    assert mean_as_tensara([1.0, 1.001, 0.999, 1.0, 1.0, 50.0]) == pytest.approx(1.0)
    assert mean_as_tensara([2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 7.0]) == pytest.approx(14 / 7), "never steady: all of them"
    assert mean_as_tensara(UNSTEADY) == pytest.approx(1.5), "at most twenty"
    assert mean_as_tensara([1000.0] * 11 + [1012.0, 9999.0]) == pytest.approx(1001), "long calls: twelve"


def test_the_older_figure_is_the_mean_rate() -> None:
    assert rate_as_tensara_2025([2.0] * 5 + [50.0], 4e6) == pytest.approx(2.0)
    assert rate_as_tensara_2025(UNSTEADY, 4e6) == pytest.approx((8 * 4 + 7 * 2) / 15), "at most fifteen"
    assert math.isclose(rate_as_tensara_2025([1.0], 1e6), 1.0)


@pytest.mark.parametrize(("told_ms", "expected_ms"), [(0.36, 0.36), (0.1, 0.34), (0.9, 0.38), (None, 0.35)])
def test_events_refine_the_time_within_the_published_interval(told_ms: float | None, expected_ms: float) -> None:
    assert refined_ms(0.35, 0.34, 0.38, told_ms) == expected_ms


def test_without_an_interval_the_clock_alone_counts() -> None:
    assert refined_ms(0.35, None, None, 0.36) == 0.35


def published(told: list[tuple[float, float]], clock_ms: tuple[float, ...]) -> MeasurementReport:
    """Of processes whose calls tell such pairs: until the device, and the stream, end."""
    replies = [
        {
            **reply(ms, 0.0), "case": 0, "verdict": "passed", "go_ns": [1e6] * 5, "copies_all": False,
            "is_short": False, "n_slow_writes": 0, "whole_gap_ns": 6e3, "whole_ms": [one[0] for one in told],
            "events_ms": [one[1] for one in told],
        }
        for ms in clock_ms
    ]  # fmt: skip
    case = ManifestCase(name="one", shapes={}, scalars={})
    one = measurement(case, replies, Role.CANDIDATE)
    assert one is not None
    return one


def measured(told: list[tuple[float, float]]) -> float:
    one = published(told, (1.0, 1.01, 1.02, 1.03, 1.04, 1.05))
    assert (one.ci_low_ms, one.ci_high_ms) == pytest.approx((0.99, 1.06)), "wider by half of the cost's spread"
    return one.median_ms


def test_a_published_time_is_that_of_the_events_unless_the_clock_contradicts_it() -> None:
    assert measured([(1.016, 1.01)] * 5) == pytest.approx(1.01)
    assert measured([(1.046, 0.4)] * 5) == pytest.approx(1.04), "work beside the default stream counts"
    assert measured([(0.406, 0.4)] * 5) == pytest.approx(0.99), "told less than the interval admits"
    assert measured([(9.0, 9.0)] * 5) == pytest.approx(1.06)


def test_no_events_make_a_time_shorter_than_the_clock_can_tell() -> None:
    one = published([(0.012, 0.006)] * 5, (0.0, 0.01, 0.01, 0.03, 0.03, 0.04))
    assert one.ci_low_ms is not None
    assert one.ci_low_ms < LEAST_MS == one.median_ms
