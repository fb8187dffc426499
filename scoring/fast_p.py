"""fast_p: the share of samples that pass and are more than p times as fast as the baseline (KernelBench)."""

import numpy as np

from scoring.arrays import BoolArray, FloatArray, IntArray

THRESHOLDS = (0.0, 0.5, 0.8, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


def fast_counts(passed: BoolArray, speedups: FloatArray, thresholds: tuple[float, ...] = THRESHOLDS) -> IntArray:
    """The number of each cell's samples that pass with a speedup above each threshold: … × S in, … × T out.

    A pass without a time that may be ranked (NaN) counts only at threshold 0, so that fast_0 is the pass rate.
    """
    columns = [_fast(passed, speedups, threshold).sum(axis=-1, dtype=np.int64) for threshold in thresholds]
    return np.stack(columns, axis=-1) if columns else np.zeros((*passed.shape[:-1], 0), dtype=np.int64)


def _fast(passed: BoolArray, speedups: FloatArray, threshold: float) -> BoolArray:
    return passed if threshold == 0 else passed & (speedups > threshold)


def fast_p(counts: IntArray, n: IntArray, counted: BoolArray) -> FloatArray:
    """The curve of each entrant (E × T): the mean over its counted problems of the share of samples that are fast.

    `counts` is E × P × T; `n` and `counted` are E × P. NaN if the entrant has no counted problem, or a counted problem
    without samples.
    """
    samples = np.where(counted & (n > 0), n, 1)[:, :, None]
    shares = np.where(counted[:, :, None], counts / samples, 0.0)
    problems = counted.sum(axis=1)
    usable = (problems > 0) & ~np.any(counted & (n == 0), axis=1)
    return np.where(usable[:, None], shares.sum(axis=1) / np.maximum(problems, 1)[:, None], np.nan)
