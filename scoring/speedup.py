"""Speedups of a board's cells, as arrays."""

import numpy as np

from scoring.arrays import BoolArray, FloatArray


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
