"""sol_score against numbers worked by hand, and the properties that every score has."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.sol_score import has_room, sol_score

NAN = float("nan")
TIME = st.floats(min_value=1e-6, max_value=1e9)


def score(time_ms: float, baseline_ms: float, least_ms: float) -> float:
    return float(sol_score(np.array(time_ms), np.array(baseline_ms), np.array(least_ms)))


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ((20.0, 20.0, 10.0), 0.5),
        ((15.0, 20.0, 10.0), 2 / 3),
        ((10.0, 20.0, 10.0), 1.0),
        ((30.0, 20.0, 10.0), 1 / 3),
        ((40.0, 20.0, 10.0), 0.25),
        ((185.0, 210.0, 167.77216), 42.22784 / (17.22784 + 42.22784)),
    ],
)
def test_a_score_is_the_one_worked_by_hand(times: tuple[float, float, float], expected: float) -> None:
    assert score(*times) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("times", [(9.0, 20.0, 10.0), (1.0, 3.0, 2.0), (1.0, 20.0, 10.0)])
def test_a_time_below_the_bound_scores_one(times: tuple[float, float, float]) -> None:
    assert score(*times) == 1.0


def test_a_missing_time_scores_zero() -> None:
    assert score(NAN, 20.0, 10.0) == 0.0


@pytest.mark.parametrize("baseline_ms", [10.0, 9.0, NAN])
@pytest.mark.parametrize("time_ms", [5.0, 20.0, NAN])
def test_there_is_no_score_where_the_baseline_leaves_no_room(time_ms: float, baseline_ms: float) -> None:
    assert np.isnan(score(time_ms, baseline_ms, 10.0))
    assert not has_room(baseline_ms, 10.0)


@given(TIME, TIME, TIME, TIME)
def test_a_score_is_from_0_to_1_and_a_shorter_time_scores_no_less(
    one_ms: float, other_ms: float, baseline_ms: float, least_ms: float
) -> None:
    if not has_room(baseline_ms, least_ms):
        return
    short, long = sorted((one_ms, other_ms))
    assert 0.0 <= score(long, baseline_ms, least_ms) <= score(short, baseline_ms, least_ms) <= 1.0
    assert score(baseline_ms, baseline_ms, least_ms) == 0.5
