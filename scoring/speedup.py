"""Speedup over the baseline: of one sample, of a board's cells, and the best expected of k samples."""

from math import comb

import numpy as np
import numpy.typing as npt

from scoring.arrays import BoolArray, FloatArray


def speedup(baseline_ms: npt.ArrayLike, candidate_ms: npt.ArrayLike) -> FloatArray:
    """baseline ÷ candidate; NaN where either time is missing (NaN), zero or negative."""
    baseline, candidate = np.asarray(baseline_ms, dtype=np.float64), np.asarray(candidate_ms, dtype=np.float64)
    usable = (baseline > 0) & (candidate > 0)
    return np.where(usable, baseline, np.nan) / np.where(usable, candidate, 1.0)


def fallback_ln(passed: BoolArray, speedups: FloatArray) -> FloatArray:
    """ln max(1, s) of each sample that passed and whose time may be ranked, else 0: a user falls back to the baseline.

    `speedups` holds NaN where a sample has no time that may be ranked. Same shape in and out.
    """
    return np.log(np.where(passed & (speedups > 1.0), speedups, 1.0))


def correct_ln(passed: BoolArray, speedups: FloatArray) -> FloatArray:
    """ln s of each passed sample with a time that may be ranked, else 0 (count those by `timed`)."""
    return np.log(np.where(timed(passed, speedups), speedups, 1.0))


def timed(passed: BoolArray, speedups: FloatArray) -> BoolArray:
    """True where a sample passed and has a positive, finite speedup."""
    return passed & np.isfinite(speedups) & (speedups > 0)


def expected_best(values: npt.ArrayLike, k: int) -> float:
    """The expected largest of k of these values drawn without replacement: Σ S₍ᵣ₎ C(r−1, k−1) / C(n, k).

    `values` is one-dimensional, a failed sample standing in with its floor; NaN where there are fewer than k.
    ValueError where k < 1.
    """
    if k < 1:
        raise ValueError(f"the best of k samples needs k of at least 1, not {k}")
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if ordered.size < k:
        return float("nan")
    shares = [comb(smaller, k - 1) / comb(ordered.size, k) for smaller in range(ordered.size)]
    return float(ordered @ np.array(shares))
