"""The first rules' intervals and ranks, and medians: by hand where a hand can."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.bootstrap import (
    Bootstrap,
    bootstrap_mean,
    percentile_interval,
    problem_draws,
    proportion_interval,
    rank_by_draws,
    tail_draws,
)
from scoring.median import median_interval, median_ranks
from scoring.uncertainty import wilson_interval


@pytest.mark.parametrize("n", range(6))
def test_fewer_than_six_runs_have_no_interval(n):
    assert median_ranks(n) is None


@pytest.mark.parametrize(
    ("n", "low", "high", "coverage"),
    [
        (6, 1, 6, 1 - 2 / 64),
        (7, 1, 7, 1 - 2 / 128),
        (8, 1, 8, 1 - 2 / 256),
        (9, 2, 8, 1 - 2 * 10 / 512),
        (10, 2, 9, 1 - 2 * 11 / 1024),
        (20, 6, 15, 1 - 2 * (1 + 20 + 190 + 1140 + 4845 + 15504) / 2**20),
    ],
)
def test_the_order_statistics_are_those_counted_by_hand(n, low, high, coverage):
    assert median_ranks(n) == (low, high, pytest.approx(coverage))


@pytest.mark.parametrize("n", [1001, 1002, 1337, 2000])
def test_many_runs_use_the_normal_law_and_still_cover_exactly_counted(n):
    low, high, coverage = median_ranks(n)
    exact = 1 - 2 * sum(comb(n, below) for below in range(low)) / 2**n
    assert high == n + 1 - low
    assert 0.95 <= exact < 0.96
    assert coverage == pytest.approx(exact, abs=1e-4)


def test_six_runs_span_their_interval():
    assert median_interval([5.0, 1.0, 9.0, 3.0, 4.0, 2.0]) == (3.5, 1.0, 9.0)


def test_five_runs_give_a_median_alone():
    assert median_interval([5.0, 1.0, 9.0, 3.0, 4.0]) == (4.0, None, None)


@pytest.mark.parametrize("runs", [[], [1.0, float("nan")], [float("inf")] * 6])
def test_runs_that_are_no_times_are_refused(runs):
    with pytest.raises(ValueError, match="finite"):
        median_interval(runs)


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=60))
def test_the_median_lies_in_its_interval(runs):
    median, low, high = median_interval(runs)
    assert low is None or low <= median <= high


def test_the_median_interval_covers_what_it_says():
    runs = np.random.default_rng(3).lognormal(size=(2000, 12))
    covered = [low <= 1.0 <= high for _, low, high in map(median_interval, runs)]
    assert 0.94 < np.mean(covered) < 0.99


def test_wilson_gives_the_published_interval():
    low, high = wilson_interval([0.0, 0.5, 1.0, 0.0], [10, 10, 10, 0])
    assert low[:3] == pytest.approx([0.0, 0.2366, 0.7225], abs=1e-4)
    assert high[:3] == pytest.approx([0.2775, 0.7634, 1.0], abs=1e-4)
    assert np.isnan(low[3])


def test_each_draw_holds_as_many_problems_as_there_are():
    counts = problem_draws("digest", draws=200, problems=30)
    assert counts.shape == (200, 30)
    assert (counts.sum(axis=1) == 30).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(30), abs=0.35)


def test_draws_follow_the_digest_and_nothing_else():
    assert np.array_equal(problem_draws("a", 50, 9), problem_draws("a", 50, 9))
    assert not np.array_equal(problem_draws("a", 50, 9), problem_draws("b", 50, 9))


def test_these_draws_never_change():
    expected = [[1, 0, 1, 1, 2], [0, 1, 3, 0, 1], [2, 1, 1, 1, 0]]
    assert problem_draws("podium", draws=3, problems=5).tolist() == expected


def test_the_bootstrap_agrees_with_the_standard_error():
    values = np.random.default_rng(5).random((3, 200))
    estimate = percentile_interval(bootstrap_mean(values, np.ones_like(values), "d", 2000))
    expected = 2 * 1.96 * values.std(axis=-1, ddof=1) / np.sqrt(values.shape[-1])
    assert estimate.high - estimate.low == pytest.approx(expected, rel=0.1)


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says():
    values = np.random.default_rng(7).random((400, 50))
    estimate = percentile_interval(bootstrap_mean(values, np.ones_like(values), "coverage", 500))
    assert 0.90 < np.mean((estimate.low <= 0.5) & (estimate.high >= 0.5)) <= 0.99


def test_a_problem_of_no_weight_does_not_matter():
    values = np.array([[0.2, 0.8, 0.5, np.nan]])
    some = bootstrap_mean(values, np.array([[1.0, 1.0, 1.0, 0.0]]), "d", 100)
    without = bootstrap_mean(values[:, :3], np.ones((1, 3)), "d", 100)
    assert np.array_equal(some.draws, without.draws)
    assert some.mean == pytest.approx([0.5])


def test_a_missing_value_that_counts_leaves_no_mean_and_spares_the_others():
    values = np.array([[0.2, np.nan], [0.2, 0.4]])
    found = percentile_interval(bootstrap_mean(values, np.ones((2, 2)), "d", 100))
    assert np.isnan([found.value[0], found.low[0], found.high[0]]).all()
    assert found.value[1] == pytest.approx(0.3)


def test_one_problem_has_no_interval():
    found = percentile_interval(bootstrap_mean(np.array([[0.5]]), np.ones((1, 1)), "d", 100))
    assert found.value == [0.5]
    assert np.isnan([found.low[0], found.high[0]]).all()


def test_all_pass_and_all_fail_are_not_certain():
    values = np.array([[0.0] * 10, [1.0] * 10])
    found = proportion_interval(bootstrap_mean(values, np.ones((2, 10)), "d", 100))
    assert found.low == pytest.approx([0.0, 0.7225], abs=1e-4)
    assert found.high == pytest.approx([0.2775, 1.0], abs=1e-4)


def test_an_interval_always_holds_its_estimate() -> None:
    """All samples twice as fast: the draws' rounding must not lift the lower end above the mean."""
    values = np.full((1, 5), np.log(2.0))
    estimate = percentile_interval(bootstrap_mean(values, np.ones((1, 5)), "digest", 1000))
    assert estimate.low[0] <= estimate.value[0] <= estimate.high[0]


def _interval_of(values, kind):
    return kind(bootstrap_mean(np.array([values]), np.ones((1, len(values))), "x", 1000))


@pytest.mark.parametrize(
    ("share", "n"), [(0.05, 4), (0.5, 2), (1 / 3, 6), (0.25, 25), (2 / 3, 100), (0.0, 3), (1.0, 3)]
)
def test_problems_of_one_share_have_an_interval_with_a_width(share, n):
    found = _interval_of([share] * n, proportion_interval)
    low, high = (float(end) for end in wilson_interval(share, n))
    assert (found.low[0], found.high[0]) == (pytest.approx(low), pytest.approx(high))
    assert 0 <= found.low[0] <= share <= found.high[0] <= 1
    assert found.high[0] - found.low[0] > 0.01


@pytest.mark.parametrize("value", [0.0, np.log(2.0), 1 / 3, -40.0])
def test_problems_of_one_ratio_have_an_interval_with_a_width(value):
    found = _interval_of([value] * 4, percentile_interval)
    assert (found.low[0], found.high[0]) == (pytest.approx(value - 0.2), pytest.approx(value + 0.2))


def test_an_end_does_not_pass_what_a_value_can_be():
    bootstrap = bootstrap_mean(np.array([[0.0] * 4, [1.0] * 4, [0.95] * 4]), np.ones((3, 4)), "x", 1000)
    found = percentile_interval(bootstrap, least=0.0, most=1.0)
    assert found.low == pytest.approx([0.0, 0.8, 0.75])
    assert found.high == pytest.approx([0.2, 1.0, 1.0])


def test_one_problem_that_differs_needs_no_other_rule():
    """The bootstrap's own ends stay: the number of times that the other problem is drawn."""
    found = _interval_of([0.5] * 9 + [0.6], proportion_interval)
    assert (found.low[0], found.high[0]) == (pytest.approx(0.5), pytest.approx(0.53))


def test_wilsons_ends_round_every_share():
    n = np.arange(1, 401)
    for passed in (n * 0, n, n // 2, n // 3):
        share = passed / n
        low, high = wilson_interval(share, n)
        assert ((low >= 0) & (low <= share) & (share <= high) & (high <= 1) & (low < high)).all()
    assert (wilson_interval(1.0, n)[1] == 1).all()
    assert (wilson_interval(0.0, n)[0] == 0).all()


@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.05, 1 / 3, 0.5, 1.0]), min_size=5, max_size=5), min_size=1, max_size=4),
    st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.5]), min_size=5, max_size=5),
)
def test_no_interval_of_shares_is_without_width_or_leaves_its_bounds(shares, weights):
    values, weight = np.array(shares), np.tile(weights, (len(shares), 1))
    found = proportion_interval(bootstrap_mean(values, weight, "x", 200))
    known = ~np.isnan(found.low)
    assert (known == ((weight > 0).sum(axis=1) >= 2)).all()
    low, value, high = found.low[known], found.value[known], found.high[known]
    assert ((low >= 0) & (low <= value + 1e-12) & (value <= high + 1e-12) & (high <= 1)).all()
    assert (high - low > 0.001).all()


@pytest.mark.parametrize(("n_draws", "left_out"), [(1000, 25), (200, 5), (40, 1), (39, 0)])
def test_as_many_draws_lie_outside_each_end(n_draws, left_out):
    """Every draw has another mean, so that each end is one draw and no other."""
    draws = np.random.default_rng(1).permutation(n_draws).astype(np.float64)[None, :]
    found = percentile_interval(Bootstrap(np.array([n_draws / 2]), draws, np.array([9])))
    assert tail_draws(n_draws) == left_out
    assert (found.low[0], found.high[0]) == (left_out, n_draws - 1 - left_out)


def test_the_interval_of_a_rank_is_that_of_the_sorted_paired_differences():
    values = np.random.default_rng(4).random((6, 20)) + np.arange(6)[:, None] * 0.15
    bootstrap = bootstrap_mean(values, np.ones_like(values), "digest", 400)
    found = rank_by_draws(bootstrap, np.ones(6, dtype=bool), 0.0)
    for entrant in range(6):
        differences = np.sort(bootstrap.draws - bootstrap.draws[entrant], axis=1)
        assert found.low[entrant] == 1 + (differences[:, 10] > 0).sum()
        assert found.high[entrant] == 6 - (differences[:, 389] < 0).sum()
    assert len(set(found.low.tolist())) > 2


def of_draws(*draws: list[float], problems: int = 2) -> Bootstrap:
    given = np.array(draws)
    return Bootstrap(given.mean(axis=1), given, np.full(len(given), problems))


@pytest.mark.parametrize(("n_lost", "n_tied", "high"), [(1, 0, 1), (2, 0, 2), (0, 1, 1), (0, 2, 2)])
def test_an_entrant_is_surely_better_if_it_wins_all_draws_but_those_of_one_tail(
    n_lost: int, n_tied: int, high: int
) -> None:
    """Of 40 draws one lies in each tail; a tie is no win. Two problems are enough."""
    first = [-1.0] * n_lost + [0.0] * n_tied + [9.0] * (40 - n_lost - n_tied)
    found = rank_by_draws(of_draws(first, [0.0] * 40), np.array([True, True]), 1e-9)
    assert (found.rank.tolist(), found.high.tolist()) == ([1, 2], [high, 2])
    assert found.low.tolist() == [1, 2 if high == 1 else 1]


def test_those_who_are_not_ranked_have_no_rank_and_move_none() -> None:
    found = rank_by_draws(of_draws([3.0] * 40, [2.0] * 40, [1.0] * 40), np.array([False, True, True]), 1e-9)
    assert [one.tolist() for one in found] == [[0, 1, 2]] * 3


def test_with_one_problem_nobody_is_surely_better() -> None:
    found = rank_by_draws(of_draws([3.0] * 40, [1.0] * 40, problems=1), np.array([True, True]), 1e-9)
    assert (found.low.tolist(), found.high.tolist()) == ([1, 1], [2, 2])


def test_a_problem_without_weight_for_one_entrant_leaves_only_that_entrants_mean() -> None:
    """Its value may be missing there. A weight below 1 is a weight."""
    values, weights = np.array([[1.0, 0.0, np.nan], [1.0, 0.0, 0.5]]), np.array([[0.2, 0.2, 0.0], [0.2, 0.2, 0.4]])
    found = bootstrap_mean(values, weights, "digest", 40)
    assert found.mean == pytest.approx([0.5, 0.5])
    assert found.problems.tolist() == [2, 3]
    assert np.isfinite(found.draws).all()
    assert set(np.round(found.draws[0], 6)) <= {0.0, 0.333333, 0.5, 0.666667, 1.0}
