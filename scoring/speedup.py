"""Speedups of a board's cells, as arrays."""

import numpy as np

from scoring.arrays import BoolArray, FloatArray


def fallback_ln(passed: BoolArray, speedups: FloatArray, lows: FloatArray | None = None) -> FloatArray:
    """ln s of each passed sample that is surely faster, else 0: a user falls back to the baseline.

    `speedups` is NaN for a sample without a time that may be ranked. `lows` are the lower ends of their intervals; the
    speedups themselves if the times are exact. The result has the same shape.
    """
    return np.log(np.where(passed & ((speedups if lows is None else lows) > 1.0), speedups, 1.0))


def correct_ln(passed: BoolArray, speedups: FloatArray) -> FloatArray:
    """ln s of each passed sample with a time that may be ranked, else 0. `timed` marks these samples."""
    return np.log(np.where(timed(passed, speedups), speedups, 1.0))


def timed(passed: BoolArray, speedups: FloatArray) -> BoolArray:
    """Whether each sample passed and has a positive, finite speedup."""
    return passed & np.isfinite(speedups) & (speedups > 0)
