"""Speedup, GFLOPS, GB/s, roofline and fast_p, against numbers worked by hand or published."""

import math

import numpy as np
import pytest

from scoring.fast_p import fast_counts, fast_p
from scoring.sample import (
    UNKNOWN_NOISE,
    TimedCase,
    counted_if_faster,
    counted_if_surely_faster,
    ratio_arm,
    sample_speedup,
)
from scoring.shared_problems import shared_problems
from scoring.speedup import correct_ln, fallback_ln
from scoring.throughput import geometric_mean, giga_per_second, least_ms

NAN = float("nan")


def test_the_speedup_of_one_case_is_baseline_over_candidate():
    assert sample_speedup({"": 10.0}, {"": 4.0}) == 2.5


def test_the_speedup_of_several_cases_is_their_geometric_mean():
    assert sample_speedup({"1k": 10.0, "1m": 8.0}, {"1k": 5.0, "1m": 1.0}) == pytest.approx(4.0)


def test_a_case_that_cannot_rank_counts_one_beside_cases_that_rank():
    times = {"1k": 10.0, "1m": 8.0}, {"1k": 2.5, "1m": 1.0}
    assert sample_speedup(*times, unranked=["1m"]) == pytest.approx(2.0)
    assert sample_speedup(*times, unranked=["1k", "1m"]) == pytest.approx(np.sqrt(32))


def test_there_is_no_speedup_without_a_baseline_for_every_case():
    assert sample_speedup({"1k": 10.0}, {"1k": 5.0, "1m": 1.0}) is None
    assert sample_speedup({"1k": 10.0}, {}) is None


def test_failures_slowdowns_and_untimed_passes_fall_back_to_the_baseline():
    passed = np.array([True, True, True, False])
    assert fallback_ln(passed, np.array([2.0, 0.5, NAN, 8.0])) == pytest.approx([np.log(2), 0, 0, 0])


def test_correct_only_keeps_slowdowns():
    passed = np.array([True, True, True, False])
    assert correct_ln(passed, np.array([2.0, 0.5, NAN, 8.0])) == pytest.approx([np.log(2), -np.log(2), 0, 0])


def test_a_rate_is_in_giga_per_second():
    assert giga_per_second(2e9, 1.0) == pytest.approx(2000.0)
    with pytest.raises(ValueError, match="positive time"):
        giga_per_second(1.0, 0.0)


def test_the_roofline_is_the_slower_of_arithmetic_and_memory():
    assert least_ms(1e9, 1e6, peak_gflops=1000, peak_gbps=100) == pytest.approx(1.0)
    assert least_ms(1e6, 1e8, peak_gflops=1000, peak_gbps=100) == pytest.approx(1.0)
    assert least_ms(None, 1e8, peak_gflops=None, peak_gbps=100) == pytest.approx(1.0)


@pytest.mark.parametrize("unknown", [(None, None, 1.0, 1.0), (1.0, None, None, 1.0), (1.0, 1.0, 1.0, None)])
def test_without_work_or_a_peak_that_it_needs_there_is_no_roofline(unknown):
    assert least_ms(*unknown) is None


def test_the_geometric_mean_of_one_value_is_that_very_value():
    assert geometric_mean([0.1]) == 0.1
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)


def test_the_geometric_mean_is_missing_where_a_value_is():
    assert geometric_mean([1.0, None]) is None
    assert geometric_mean([]) is None


def test_shared_problems_are_those_every_ranked_entrant_with_figures_has():
    figures = np.array([[1.0, 2.0, NAN], [3.0, 4.0, 5.0], [NAN, NAN, NAN], [NAN, 9.0, 9.0]])
    assert shared_problems(figures, np.array([True, True, True, False])).tolist() == [True, True, False]
    assert not shared_problems(figures, np.zeros(4, dtype=bool)).any()


def test_fast_p_counts_passes_that_are_faster_than_p():
    passed = np.array([[[True, True, True, False]]])
    speedups = np.array([[[2.0, 1.0, NAN, 9.0]]])
    counts = fast_counts(passed, speedups, (0.0, 0.5, 1.0, 2.0))
    assert counts.tolist() == [[[3, 2, 1, 0]]]
    assert fast_p(counts, np.array([[4]]), np.array([[True]])).tolist() == [[0.75, 0.5, 0.25, 0.0]]


def test_fast_p_is_a_mean_over_counted_problems():
    counts = np.array([[[2], [0], [9]], [[0], [0], [0]]])
    counted = np.array([[True, True, False], [False, False, False]])
    found = fast_p(counts, np.array([[2, 4, 9], [2, 2, 2]]), counted)
    assert found[0].tolist() == [0.5]
    assert np.isnan(found[1]).all()


@pytest.mark.parametrize(
    ("times", "arm"),
    [
        ((10.0, 9.0, 5.0, 5.5), math.log(10 / 9) + math.log(1.1)),
        ((10.0, None, 5.0, 5.5), UNKNOWN_NOISE),
        ((10.0, 9.0, 5.0, None), UNKNOWN_NOISE),
        ((10.0, 10.0, 5.0, 5.0), UNKNOWN_NOISE),
    ],
)
def test_the_arm_of_a_ratio_comes_from_both_intervals(times, arm):
    assert ratio_arm(*times) == pytest.approx(arm)


@pytest.mark.parametrize(("ratio", "counts"), [(1.2, 1.2), (1.11, 1.11), (1.09, 1.0), (0.5, 1.0)])
def test_a_time_without_an_interval_counts_beyond_a_tenth(ratio, counts):
    assert math.exp(counted_if_surely_faster(ratio, [])) == pytest.approx(counts)
    assert math.exp(counted_if_faster(ratio, [])) == pytest.approx(max(1.0, ratio))


def test_many_cases_are_surer_than_one():
    case = TimedCase(1.08, math.log(1.1))
    assert counted_if_surely_faster(1.08, [case]) == 0
    assert counted_if_surely_faster(1.08, [case] * 4) == pytest.approx(math.log(1.08))


def test_lower_ends_decide_what_counts_of_arrays():
    passed, speedups = np.array([True, True, False]), np.array([2.0, 1.05, 3.0])
    lows = np.array([1.5, 0.9, 2.0])
    assert fallback_ln(passed, speedups, lows) == pytest.approx([math.log(2.0), 0, 0])
    assert fallback_ln(passed, speedups) == pytest.approx([math.log(2.0), math.log(1.05), 0])


def test_a_case_without_a_time_holds_back_what_the_others_gain() -> None:
    """It counted 1 in the sample's speedup, of which the timed cases alone know nothing."""
    timed = [TimedCase(4.0, 0.01), TimedCase(4.0, 0.01)]
    assert math.exp(counted_if_surely_faster(4.0 ** (2 / 3), timed)) == pytest.approx(4.0 ** (2 / 3))
    assert math.exp(counted_if_surely_faster(4.0, timed)) == pytest.approx(4.0)


def test_a_case_without_a_time_counts_one_and_one_case_gives_its_very_ratio() -> None:
    assert sample_speedup({"a": 8.0, "b": 3.0}, {"a": 2.0}, no_time=["b"]) == pytest.approx(2.0)
    assert sample_speedup({"": 0.1}, {"": 1.0}) == 0.1


def test_a_case_that_may_not_rank_counts_one_or_less() -> None:
    ranks = TimedCase(4.0, 0.01)
    for ratio, counts in ((9.0, 2.0), (1.0, 2.0), (0.25, 1.0)):
        found = counted_if_surely_faster(4.0, [ranks, TimedCase(ratio, 0.01, ranks=False)])
        assert math.exp(found) == pytest.approx(counts)
    assert counted_if_surely_faster(0.5, [TimedCase(0.5, 0.01, ranks=False)]) == 0.0


def test_a_ratio_whose_interval_reaches_one_is_not_surely_faster() -> None:
    assert counted_if_surely_faster(1.1, [TimedCase(1.1, math.log(1.1))]) == 0.0
    assert counted_if_surely_faster(1.1, [TimedCase(1.1, math.log(1.1) - 1e-9)]) == math.log(1.1)
    assert fallback_ln(np.array([True]), np.array([2.0]), np.array([1.0])).tolist() == [0.0]


def test_a_speedup_of_zero_is_no_time() -> None:
    assert correct_ln(np.array([True, True]), np.array([0.0, 2.0])).tolist() == [0.0, math.log(2.0)]


def test_a_rate_is_an_amount_over_a_time() -> None:
    assert giga_per_second(2e9, 4.0) == pytest.approx(500.0)


def test_nobody_with_figures_shares_no_problem() -> None:
    found = shared_problems(np.array([[NAN, NAN, NAN]]), np.array([True]))
    assert (found.dtype, found.tolist()) == (np.bool_, [False, False, False])


def test_without_thresholds_there_is_no_column() -> None:
    assert fast_counts(np.ones((2, 3, 4), dtype=bool), np.ones((2, 3, 4)), ()).shape == (2, 3, 0)


def test_a_counted_problem_without_samples_leaves_its_own_entrant_without_a_curve() -> None:
    counts = np.array([[[1], [0]], [[1], [1]]])
    found = fast_p(counts, np.array([[2, 0], [1, 4]]), np.ones((2, 2), dtype=bool))
    assert np.isnan(found[0, 0])
    assert found[1, 0] == (1 + 1 / 4) / 2
