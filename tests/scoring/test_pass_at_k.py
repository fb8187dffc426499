"""pass@k agrees with ComputeEval's own rows, with counting, and with common sense."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.pass_at_k import pass_at_k

CASES = json.loads((Path(__file__).parents[1] / "data/compute-eval/cases-pass-at-k.json").read_text())
counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


def test_every_conformance_row_is_met():
    assert len(CASES) > 40
    for case in CASES:
        found = float(pass_at_k(case["n"], case["c"], case["k"]))
        assert found == pytest.approx(case["expected"], rel=0, abs=1e-15), case


@pytest.mark.parametrize(
    ("n", "c", "k", "expected"),
    [(10, 3, 1, 0.3), (10, 3, 5, 1 - 21 / 252), (10, 3, 8, 1.0), (5, 2, 3, 0.9)],
)
def test_worked_vectors(n, c, k, expected):
    assert float(pass_at_k(n, c, k)) == pytest.approx(expected, abs=1e-12)


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_it_is_the_share_of_k_subsets_that_hold_a_pass(case):
    n, c, k = case
    subsets = list(combinations([True] * c + [False] * (n - c), k))
    assert float(pass_at_k(n, c, k)) == pytest.approx(sum(map(any, subsets)) / len(subsets), abs=1e-12)


@given(counts)
def test_one_more_pass_never_lowers_it(case):
    n, c, k = case
    assert c == n or pass_at_k(n, c + 1, k) >= pass_at_k(n, c, k)


@given(counts)
def test_at_n_any_pass_is_enough_and_at_one_it_is_the_share(case):
    n, c, _ = case
    assert float(pass_at_k(n, c, n)) == float(c > 0)
    assert float(pass_at_k(n, c, 1)) == pytest.approx(c / n, abs=1e-12)


def test_fewer_samples_than_k_is_no_number():
    assert np.isnan(pass_at_k([0, 2, 3], [0, 2, 1], 3)).tolist() == [True, True, False]


def test_arrays_keep_their_shape_and_broadcast():
    assert pass_at_k(np.full((4, 3), 5), np.arange(3), 2).shape == (4, 3)
    assert pass_at_k(np.zeros((0, 3), dtype=int), np.zeros((0, 3), dtype=int), 1).shape == (0, 3)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 1, 0), (3, 1, -2), (3, 4, 1), (3, -1, 1)])
def test_what_cannot_be_is_refused(n, c, k):
    with pytest.raises(ValueError, match="pass@k needs"):
        pass_at_k(n, c, k)


@pytest.mark.parametrize(("n", "c"), [(3, 4), (3, -1)])
def test_counts_that_cannot_be_are_refused_in_words(n: int, c: int) -> None:
    with pytest.raises(ValueError, match=r"^pass@k needs 0 <= c <= n: a problem has more passes than samples"):
        pass_at_k(n, c, 1)
