"""Ranks are shared by ties, and their intervals hold what paired differences leave open."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scoring.ranking import rank_entrants, ranks_with_ties
from scoring.uncertainty import bootstrap_mean


def ranks_of(values, tolerance=1e-9, ranked=None):
    values = np.asarray(values, dtype=np.float64)
    bootstrap = bootstrap_mean(values, np.ones_like(values), "digest", 400)
    return rank_entrants(bootstrap, np.ones(len(values), dtype=bool) if ranked is None else ranked, tolerance)


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


def test_the_interval_is_that_of_the_sorted_paired_differences():
    values = np.random.default_rng(4).random((6, 20)) + np.arange(6)[:, None] * 0.15
    bootstrap = bootstrap_mean(values, np.ones_like(values), "digest", 400)
    found = rank_entrants(bootstrap, np.ones(6, dtype=bool), 0.0)
    for entrant in range(6):
        differences = np.sort(bootstrap.draws - bootstrap.draws[entrant], axis=1)
        assert found.low[entrant] == 1 + (differences[:, 10] > 0).sum()
        assert found.high[entrant] == 6 - (differences[:, 389] < 0).sum()
    assert len(set(found.low.tolist())) > 2


def test_one_problem_settles_no_rank():
    found = ranks_of([[0.1], [0.9]])
    assert (found.rank.tolist(), found.low.tolist(), found.high.tolist()) == ([2, 1], [1, 1], [2, 2])


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
    assert (found.low >= 1).all()
    assert (found.low <= found.rank).all()
    assert (found.rank <= found.high).all()
    assert (found.high <= len(values)).all()
