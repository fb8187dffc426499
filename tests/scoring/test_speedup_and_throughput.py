"""Speedup, GFLOPS, GB/s, roofline, fast_p and weights, against numbers worked by hand or published."""

import numpy as np
import pytest

from scoring.fast_p import fast_counts, fast_p
from scoring.sample import sample_speedup
from scoring.shared_problems import shared_problems
from scoring.speedup import correct_ln, fallback_ln
from scoring.throughput import geometric_mean, giga_per_second, least_ms
from scoring.weights import group_weights

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


CHAPTERS = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 20, 21]
PROBLEMS = np.array([2, 3, 1, 3, 1, 1, 3, 2, 3, 1, 5, 6, 4, 2, 2, 4, 6, 4])
FAILED = np.array([9, 5, 10, 16, 5, 5, 30, 2, 9, 11, 102, 46, 28, 10, 14, 59, 92, 52])
PUBLISHED = [
    0.537768, 0.277310, 1.043361, 0.614373, 0.583731, 0.583731, 1.043361, 0.216026, 0.399879,
    1.135287, 1.999393, 0.828867, 0.767583, 0.583731, 0.767583, 1.480010, 1.533634, 1.319140,
]  # fmt: skip


def chapter_weights():
    return group_weights(1 - FAILED / (27 * PROBLEMS), PROBLEMS)


def test_the_published_chapter_weights_come_out():
    assert chapter_weights() == pytest.approx(PUBLISHED, abs=6e-7)


def test_the_mean_weight_is_one_over_problems_not_over_chapters():
    weights = chapter_weights()
    assert float(weights @ PROBLEMS) / PROBLEMS.sum() == pytest.approx(1.0, abs=1e-12)
    assert weights.mean() == pytest.approx(0.873043, abs=1e-6)


def test_a_hard_chapter_weighs_more_than_its_share():
    weights = chapter_weights() * PROBLEMS
    thirteen = CHAPTERS.index(13)
    assert 1 - PROBLEMS[thirteen] / PROBLEMS.sum() == pytest.approx(0.9057, abs=1e-4)
    assert 1 - weights[thirteen] / weights.sum() == pytest.approx(0.8114, abs=1e-4)


@pytest.mark.parametrize(
    ("rates", "sizes", "epsilon"), [([1.5], [1], 0.05), ([0.5], [0], 0.05), ([0.5, 0.5], [1], 0.05), ([1.0], [1], 0.0)]
)
def test_weights_that_mean_nothing_are_refused(rates, sizes, epsilon):
    with pytest.raises(ValueError, match="weight"):
        group_weights(rates, sizes, epsilon)
