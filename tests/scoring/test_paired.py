"""Paired differences, held against plain loops and a large plain bootstrap."""

import math

import numpy as np
import pytest

from scoring.bootstrap import bootstrap_mean, percentile_interval
from scoring.paired import DrawnPairs, paired_difference, paired_differences

DIGEST = "paired"
FIRST, BOARD = DrawnPairs(DIGEST, 1000, 1), DrawnPairs(DIGEST, 1000)
"""The first rules and the newest."""
BOTH = pytest.mark.parametrize("board", [FIRST, BOARD])


@BOTH
def test_the_difference_is_the_mean_over_the_problems_that_count(board: DrawnPairs) -> None:
    first, second = np.array([1.0, 0.5, 0.0, 0.9]), np.array([0.0, 0.5, 1.0, 0.1])
    found = paired_difference(first, second, np.array([True, True, False, True]), board)
    assert math.isclose(found.value, (1.0 + 0.0 + 0.8) / 3)
    assert (found.problems, found.wins, found.losses, found.ties) == (3, 2, 0, 1)
    assert found.low <= found.value <= found.high


def test_equal_entrants_differ_by_nothing_known_as_well_as_their_problems_are_many() -> None:
    values = np.linspace(0, 1, 40)
    found = paired_difference(values, values, np.ones(40, dtype=bool), FIRST)
    assert (found.value, found.low, found.high) == (0.0, -1 / 41, 1 / 41)
    assert found.ties == 40


def test_what_makes_problems_hard_for_both_cancels() -> None:
    draw = np.random.default_rng(5)
    hard = draw.uniform(0, 1, 200)
    found = paired_difference(hard + 0.05, hard, np.ones(200, dtype=bool), FIRST)
    alone = percentile_interval(bootstrap_mean(hard[None, :], np.ones((1, 200)), DIGEST, 1000))
    assert found.high - found.low < (alone.high[0] - alone.low[0]) / 5
    assert (found.low, found.high) == (pytest.approx(0.05 - 1 / 201), pytest.approx(0.05 + 1 / 201))
    assert math.isclose(found.value, 0.05, abs_tol=1e-9)


@BOTH
def test_the_interval_is_that_of_a_plain_bootstrap(board: DrawnPairs) -> None:
    draw = np.random.default_rng(7)
    first, second = draw.integers(0, 2, 120).astype(float), draw.integers(0, 2, 120).astype(float)
    found = paired_difference(first, second, np.ones(120, dtype=bool), board)
    means = [(first - second)[draw.integers(0, 120, 120)].mean() for _ in range(20_000)]
    low, high = np.percentile(means, [2.5, 97.5])
    assert abs(found.low - low) < 0.02
    assert abs(found.high - high) < 0.02


@BOTH
def test_no_problem_in_common_gives_no_difference(board: DrawnPairs) -> None:
    found = paired_difference(np.ones(3), np.zeros(3), np.zeros(3, dtype=bool), board)
    assert math.isnan(found.value)
    assert (found.problems, found.wins, found.losses) == (0, 0, 0)


@BOTH
def test_one_problem_has_a_difference_and_no_interval(board: DrawnPairs) -> None:
    found = paired_difference(np.ones(3), np.zeros(3), np.array([True, False, False]), board)
    assert found.value == 1.0
    assert math.isnan(found.low)
    assert math.isnan(found.high)


@BOTH
def test_many_against_one_are_the_pairs_one_by_one(board: DrawnPairs) -> None:
    draw = np.random.default_rng(11)
    firsts, second = draw.uniform(0, 1, (6, 50)), draw.uniform(0, 1, 50)
    counted = np.ones((6, 50), dtype=bool)
    counted[2:4, :7] = False  # two pairs over the same problems
    counted[4] = False
    counted[5] = draw.uniform(0, 1, 50) > 0.5
    alone = [paired_difference(one, second, mask, board) for one, mask in zip(firsts, counted, strict=True)]
    assert list(map(str, paired_differences(firsts, second, counted, board))) == list(map(str, alone))
    assert paired_differences(firsts[:0], second, counted[:0], board) == []


def test_a_difference_that_is_the_same_everywhere_is_not_certain_and_within_its_bound() -> None:
    passed, failed = np.ones(4), np.zeros(4)
    found = paired_difference(passed, failed, passed > 0, FIRST, most=1.0)
    assert (found.value, found.low, found.high) == (1.0, 0.8, 1.0)


def test_entrants_that_never_differ_might_on_other_problems() -> None:
    """As far as Wilson's interval of no success reaches: 3.84 / (40 + 3.84)."""
    values = np.linspace(0, 1, 40)
    found = paired_difference(values, values, np.ones(40, dtype=bool), BOARD, most=1.0)
    assert (found.low, found.value, found.high) == (
        pytest.approx(-0.0876, abs=1e-4),
        0,
        pytest.approx(0.0876, abs=1e-4),
    )


def test_no_end_passes_what_a_difference_can_be() -> None:
    found = paired_difference(np.ones(9), np.array([0.0] * 8 + [1.0]), np.ones(9, dtype=bool), BOARD, most=1.0)
    assert found.low < found.value < found.high == 1


@BOTH
def test_weights_move_the_mean_and_leave_out_what_has_none(board: DrawnPairs) -> None:
    firsts, second = np.array([[1.0, 0.0, 1.0, 5.0]]), np.zeros(4)
    (found,) = paired_differences(firsts, second, np.array([[3.0, 1.0, 0.5, 0.0]]), board)
    assert found.value == pytest.approx(3.5 / 4.5)
    assert (found.problems, found.wins, found.losses, found.ties) == (3, 2, 0, 1)
