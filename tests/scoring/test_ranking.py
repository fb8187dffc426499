"""Ranks are shared by ties, and their intervals hold what paired differences leave open."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scoring.bootstrap import bootstrap_mean, rank_by_draws
from scoring.ranking import FAMILY_LEVEL, least_sure, rank_entrants, ranks_with_ties
from scoring.uncertainty import FEW_PROBLEMS, Means, means


def ranks_of(values, tolerance=1e-9, ranked=None):
    values = np.asarray(values, dtype=np.float64)
    return rank_entrants(
        means(values, np.ones_like(values)), np.ones(len(values), dtype=bool) if ranked is None else ranked, tolerance
    )


def test_ties_share_a_rank_and_the_next_one_is_skipped():
    assert ranks_with_ties(np.array([0.5, 0.9, 0.5, 0.1]), 0.0).tolist() == [2, 1, 2, 4]


def test_scores_within_the_tolerance_tie():
    assert ranks_with_ties(np.array([0.500, 0.504, 0.510]), 0.005).tolist() == [2, 2, 1]


def test_a_difference_on_every_problem_is_sure():
    steps = np.random.default_rng(1).random(40)
    found = ranks_of([steps, steps + 0.01, steps + 0.02])
    assert found.rank.tolist() == found.low.tolist() == found.high.tolist() == [3, 2, 1]


def test_entrants_alike_could_hold_each_others_rank():
    noise = np.random.default_rng(2).normal(size=(4, 30))
    found = ranks_of(noise - noise.mean(axis=1, keepdims=True) + np.array([[0.02], [0.04], [0.01], [0.03]]))
    assert found.rank.tolist() == [3, 1, 4, 2]
    assert found.low.tolist() == [1] * 4
    assert found.high.tolist() == [4] * 4


def test_equal_entrants_tie_and_neither_is_surely_better():
    row = np.random.default_rng(3).random(25)
    found = ranks_of([row, row])
    assert (found.rank.tolist(), found.low.tolist(), found.high.tolist()) == ([1, 1], [1, 1], [2, 2])


@pytest.mark.parametrize("problems", [1, 2, 4])
def test_few_problems_give_ranks_without_intervals(problems):
    found = ranks_of([[0.1] * problems, [0.9] * problems])
    assert (found.rank.tolist(), found.low.tolist(), found.high.tolist()) == ([2, 1], [0, 0], [0, 0])


def test_an_entrant_with_few_problems_takes_no_part_in_others_intervals():
    values, weights = np.array([[1.0] * 30, [0.5] * 30, [0.0] * 30]), np.ones((3, 30))
    weights[1, 4:] = 0
    found = rank_entrants(means(values, weights), np.ones(3, dtype=bool), 0.0)
    assert (found.low.tolist(), found.high.tolist()) == ([1, 0, 2], [2, 0, 3])


def test_being_better_on_each_of_eight_problems_is_sure_of_two_entrants_and_not_of_ten():
    better, worse = [0.6] * 8, [0.5] * 8
    assert ranks_of([better, worse]).low.tolist() == [1, 2]
    assert ranks_of([better] + [worse] * 9).low.tolist() == [1] + [1] * 9


@pytest.mark.parametrize(("pairs", "crossed"), [(1, 1), (45, 4)])
def test_holm_goes_down_step_by_step(pairs, crossed):
    """The second largest figure is held against one pair fewer than the largest."""
    normal = NormalDist()
    exact = [normal.inv_cdf(1 - FAMILY_LEVEL / (2 * (pairs - n))) ** 2 for n in range(crossed)]
    assert least_sure(np.repeat(np.array(exact) + 1e-9, 2), pairs) <= exact[-1] + 1e-9
    short = np.repeat(np.array(exact) - 1e-3, 2)
    assert (short < least_sure(short, pairs)).all()


@pytest.mark.parametrize("samples", [1, 10])
def test_few_boards_of_equal_entrants_call_somebody_surely_worse(samples):
    """Ten equal entrants over 25 problems: by the first rules most boards did."""
    rng, wrong, before = np.random.default_rng(8), 0, 0
    for _ in range(200):
        chance = rng.beta(1, 1, 25)
        values = rng.binomial(samples, chance, size=(10, 25)) / samples
        found = rank_entrants(means(values, np.ones_like(values)), np.ones(10, dtype=bool), 1e-9)
        wrong += bool((found.low > 1).any() or (found.high < 10).any())
        drawn = bootstrap_mean(values, np.ones_like(values), "digest", 400)
        old = rank_by_draws(drawn, np.ones(10, dtype=bool), 1e-9)
        before += bool((old.low > 1).any() or (old.high < 10).any())
    assert wrong <= 10
    assert before > 80


def test_noise_that_all_problems_share_is_no_difference():
    steps = np.random.default_rng(1).random(40)
    values = np.array([steps, steps + 0.01])
    measured = means(values, np.ones_like(values))
    everyone = np.ones(2, dtype=bool)
    assert rank_entrants(measured, everyone, 0.0, np.zeros(2)).high.tolist() == [2, 1]
    assert rank_entrants(measured, everyone, 0.0, np.array([0.01, 0.01])).high.tolist() == [2, 2]


def test_who_may_not_rank_gets_zero_and_moves_nobody():
    found = ranks_of([[0.1, 0.2], [0.9, 0.9], [0.5, 0.5]], ranked=np.array([True, False, True]))
    assert found.rank.tolist() == [2, 0, 1]
    assert found.high[1] == 0


def test_nobody_to_rank_is_no_error():
    assert ranks_of(np.zeros((0, 3))).rank.tolist() == []


@settings(max_examples=60)
@given(arrays(np.float64, st.tuples(st.integers(1, 9), st.integers(1, 12)), elements=st.sampled_from([0, 0.5, 1])))
def test_the_rank_lies_in_its_interval(values):
    found = ranks_of(values)
    if values.shape[1] < 5:
        assert (found.low == 0).all()
        assert (found.high == 0).all()
        return
    assert (found.low >= 1).all()
    assert (found.low <= found.rank).all()
    assert (found.rank <= found.high).all()
    assert (found.high <= len(values)).all()


def of_two(figure: float, shared_sd: float = 0.0, problems: float = 100.0) -> list[int]:
    """The highest rank that the better of two entrants could have, from its pair's figure without shared noise."""
    gap = 0.6
    each = gap**2 * (1 / figure - 1 / problems) / 2
    step = np.sqrt(each / 2)
    influence = np.array([[step, -step, 0.0, 0.0], [0.0, 0.0, step, -step]])
    found = Means(np.array([gap, 0.0]), influence, np.array([problems, problems]))
    return rank_entrants(found, np.array([True, True]), 0.0, np.full(2, shared_sd)).high.tolist()


def test_one_pair_is_sure_from_the_square_of_the_normal_quantile_on() -> None:
    least = NormalDist().inv_cdf(1 - FAMILY_LEVEL / 2) ** 2
    assert of_two(least * 1.01) == [1, 2]
    assert of_two(least * 0.99) == [2, 2]
    assert of_two(least * 1.01, problems=float(FEW_PROBLEMS)) == [1, 2], "just enough problems"


def test_shared_noise_counts_by_its_variance() -> None:
    """0.1 adds 0.02 to a pair's variance of about 0.036, which leaves it sure; 0.2 adds 0.08."""
    assert of_two(9.0, 0.1) == [1, 2]
    assert of_two(9.0, 0.2) == [2, 2]


def test_who_is_surely_worse_does_not_count_as_better() -> None:
    """The first two are alike, and the third is surely behind both."""
    step = np.sqrt(0.0005)
    influence = np.kron(np.eye(3), np.array([step, -step]))
    found = rank_entrants(Means(np.array([0.62, 0.6, 0.0]), influence, np.full(3, 100.0)), np.ones(3, dtype=bool), 0.0)
    assert [one.tolist() for one in found] == [[1, 2, 3], [1, 1, 3], [2, 2, 3]]
