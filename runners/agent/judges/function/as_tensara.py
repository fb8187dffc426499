"""A case's figure as Tensara's engine makes it, so that its users can compare. Shown, never ranked.

Their events lie around each call in the contestant's process, whose caches are cleared before it, as ours are; what
differs is how calls become one figure.
"""

import statistics
from collections.abc import Sequence

LONG_MS = 1000.0
"""Milliseconds of a first call from which Tensara's engine makes a fixed number of calls."""
FIXED_RUNS = 12
"""Number of calls that take `LONG_MS`."""


def mean_as_tensara(calls_ms: Sequence[float]) -> float:
    """Today's figure: the mean time of 5 to 20 calls, ended once their deviation is below 1 % of it."""
    if calls_ms[0] >= LONG_MS:
        return statistics.fmean(calls_ms[:FIXED_RUNS])
    return statistics.fmean(_until_steady(calls_ms, most=20, share=0.01))


def rate_as_tensara_2025(calls_ms: Sequence[float], flops: float) -> float:
    """The figure of March 2025: the mean GFLOPS of 5 to 15 calls, ended once their deviation is below 2 % of it."""
    rates = [flops / ms / 1e6 for ms in calls_ms]
    return statistics.fmean(_until_steady(rates, most=15, share=0.02))


def _until_steady(values: Sequence[float], *, most: int, share: float, least: int = 5) -> Sequence[float]:
    for count in range(least, min(most, len(values))):
        so_far = values[:count]
        if statistics.stdev(so_far) < share * statistics.fmean(so_far):
            return so_far
    return values[:most]
