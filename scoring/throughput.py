"""GFLOPS, GB/s and the share of the roofline, from the work a problem declares and a time."""

import numpy as np
import numpy.typing as npt

from scoring.arrays import BoolArray, FloatArray

PER_MS_TO_GIGA_PER_S = 1e-6


def _per_ms(amount: npt.ArrayLike, time_ms: npt.ArrayLike) -> FloatArray:
    time = np.asarray(time_ms, dtype=np.float64)
    return np.asarray(amount, dtype=np.float64) / np.where(time > 0, time, np.nan)


def gflops(flops: npt.ArrayLike, time_ms: npt.ArrayLike) -> FloatArray:
    """Declared floating-point operations per nanosecond, which is GFLOPS; NaN where there is no positive time."""
    return _per_ms(flops, time_ms) * PER_MS_TO_GIGA_PER_S


def gbps(moved_bytes: npt.ArrayLike, time_ms: npt.ArrayLike) -> FloatArray:
    """Declared bytes per nanosecond, which is GB/s (10⁹ bytes); NaN where there is no positive time."""
    return _per_ms(moved_bytes, time_ms) * PER_MS_TO_GIGA_PER_S


def roofline_ms(
    flops: npt.ArrayLike,
    moved_bytes: npt.ArrayLike,
    peak_gflops: float,
    peak_gbps: float,
    launch_ms: float = 0.0,
) -> FloatArray:
    """The least time the track's measured peaks allow: max(flops ÷ peak, bytes ÷ bandwidth, an empty launch).

    ValueError where a peak is not positive.
    """
    if peak_gflops <= 0 or peak_gbps <= 0:
        raise ValueError(f"a roofline needs positive peaks, not {peak_gflops} GFLOPS and {peak_gbps} GB/s")
    compute_ms = np.asarray(flops, dtype=np.float64) * PER_MS_TO_GIGA_PER_S / peak_gflops
    memory_ms = np.asarray(moved_bytes, dtype=np.float64) * PER_MS_TO_GIGA_PER_S / peak_gbps
    return np.maximum(np.maximum(compute_ms, memory_ms), launch_ms)


def roofline_percent(least_ms: npt.ArrayLike, time_ms: npt.ArrayLike) -> FloatArray:
    """100 · least time ÷ time; above 100 the declared work, the peaks or the time is wrong. NaN without a time."""
    return 100.0 * _per_ms(least_ms, time_ms)


def shared_problems(figures: FloatArray, ranked: BoolArray) -> BoolArray:
    """The problems (P) where every ranked entrant (E) that has any figure at all has one.

    `figures` is E × P, NaN where an entrant has none. Only over these may GFLOPS be averaged: over its own passes each
    entrant would be averaged over other work.
    """
    present = np.isfinite(figures)
    taking_part = ranked & present.any(axis=1)
    if not taking_part.any():
        return np.zeros(figures.shape[1], dtype=np.bool_)
    return np.asarray(present[taking_part].all(axis=0))
