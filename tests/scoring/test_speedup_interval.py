"""The interval of one sample's speedup, from the intervals of its times."""

import math

import pytest

from scoring.speedup_interval import Timed, speedup_interval

BASE, OWN = Timed(4.0, 3.96, 4.08), Timed(1.0, 0.99, 1.02)


def test_the_arms_are_the_roots_of_summed_squares() -> None:
    found = speedup_interval(4.0, [(BASE, OWN)])
    assert found is not None
    assert found == pytest.approx((3.912, 4.090), abs=1e-3)
    assert math.log(4.0 / found[0]) == pytest.approx(math.hypot(math.log(4 / 3.96), math.log(1.02)))


def test_over_more_cases_the_interval_is_narrower_and_a_case_at_one_adds_no_error() -> None:
    one, two, with_one = (
        speedup_interval(4.0, *given) for given in (([(BASE, OWN)],), ([(BASE, OWN)] * 2,), ([(BASE, OWN)], 1))
    )
    assert one and two and with_one
    assert math.log(4 / two[0]) == pytest.approx(math.log(4 / one[0]) / math.sqrt(2))
    assert math.log(4 / with_one[0]) == pytest.approx(math.log(4 / one[0]) / 2)


def test_without_an_interval_of_every_time_there_is_none() -> None:
    assert speedup_interval(4.0, [(BASE, OWN), (BASE, Timed(1.0, None, None))]) is None
    assert speedup_interval(4.0, []) is None


def test_a_median_outside_of_its_interval_makes_no_arm_negative() -> None:
    assert speedup_interval(4.0, [(Timed(4.0, 4.1, 4.2), Timed(1.0, 1.0, 1.0))]) == pytest.approx((4.0, 4.2))


def test_the_upper_end_is_a_mean_of_the_cases_as_well() -> None:
    (one, two) = (speedup_interval(4.0, [(BASE, OWN)] * n) for n in (1, 2))
    assert one and two
    assert math.log(two[1] / 4) == pytest.approx(math.log(one[1] / 4) / math.sqrt(2))
