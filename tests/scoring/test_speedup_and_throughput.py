"""Speedup, GFLOPS, GB/s, roofline, fast_p and weights, against numbers worked by hand or published."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.fast_p import fast_counts, fast_p
from scoring.speedup import correct_ln, expected_best, fallback_ln, speedup
from scoring.throughput import gbps, gflops, roofline_ms, roofline_percent, shared_problems
from scoring.weights import group_weights

NAN = float("nan")


def test_speedup_is_baseline_over_candidate_and_nothing_without_both():
    found = speedup([10.0, 10.0, 0.0, NAN, 10.0], [5.0, 20.0, 1.0, 1.0, -1.0])
    assert found[:2].tolist() == [2.0, 0.5]
    assert np.isnan(found[2:]).all()


def test_failures_slowdowns_and_untimed_passes_fall_back_to_the_baseline():
    passed = np.array([True, True, True, False])
    assert fallback_ln(passed, np.array([2.0, 0.5, NAN, 8.0])) == pytest.approx([np.log(2), 0, 0, 0])


def test_correct_only_keeps_slowdowns():
    passed = np.array([True, True, True, False])
    assert correct_ln(passed, np.array([2.0, 0.5, NAN, 8.0])) == pytest.approx([np.log(2), -np.log(2), 0, 0])


def test_expected_best_of_two_of_one_two_four():
    assert expected_best([4.0, 1.0, 2.0], 2) == pytest.approx(10 / 3)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12))
def test_expected_best_runs_from_mean_to_maximum(values):
    assert expected_best(values, 1) == pytest.approx(np.mean(values))
    assert expected_best(values, len(values)) == pytest.approx(max(values))
    assert np.isnan(expected_best(values, len(values) + 1))


def test_expected_best_of_none_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        expected_best([1.0], 0)


def test_throughput_of_one_millisecond():
    assert float(gflops(2e9, 1.0)) == pytest.approx(2000.0)
    assert float(gbps(3e6, 1.0)) == pytest.approx(3.0)
    assert np.isnan(gflops(1.0, [0.0, -1.0, NAN])).all()


def test_the_roofline_is_the_slowest_of_compute_memory_and_launch():
    assert float(roofline_ms(1e9, 1e6, peak_gflops=1000, peak_gbps=100)) == pytest.approx(1.0)
    assert float(roofline_ms(1e6, 1e8, peak_gflops=1000, peak_gbps=100)) == pytest.approx(1.0)
    assert float(roofline_ms(1.0, 1.0, peak_gflops=1000, peak_gbps=100, launch_ms=0.005)) == 0.005
    assert float(roofline_percent(1.0, 4.0)) == 25.0


def test_a_roofline_needs_peaks():
    with pytest.raises(ValueError, match="positive peaks"):
        roofline_ms(1.0, 1.0, peak_gflops=0, peak_gbps=1)


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
