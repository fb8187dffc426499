"""GFLOPS, GB/s and the roofline, from declared work, a time and a device's measured peaks.

Times are milliseconds, work is floating-point operations and bytes, peaks are GFLOPS and GB/s (10⁹ bytes). Needs no
numpy, so that nodes can use it.
"""

import math
from collections.abc import Iterable

PER_MS_TO_GIGA_PER_S = 1e-6


def giga_per_second(amount: float, time_ms: float) -> float:
    """The rate in 10⁹ operations or bytes per second. Raises ValueError unless the time is positive."""
    if not time_ms > 0:
        raise ValueError(f"a rate needs a positive time, not {time_ms} ms")
    return amount / time_ms * PER_MS_TO_GIGA_PER_S


def least_ms(
    flops: float | None, moved_bytes: float | None, peak_gflops: float | None, peak_gbps: float | None
) -> float | None:
    """The roofline: max(flops ÷ peak, bytes ÷ bandwidth), the least time in ms in which the peaks allow the work.

    None if no work is declared or a peak that the work needs is unknown. Williams, Waterman and Patterson 2009.
    """
    needs = [(amount, peak) for amount, peak in ((flops, peak_gflops), (moved_bytes, peak_gbps)) if amount]
    times_ms = [amount * PER_MS_TO_GIGA_PER_S / peak for amount, peak in needs if peak]
    return max(times_ms) if times_ms and len(times_ms) == len(needs) else None


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """The geometric mean of positive values; None if a value is missing or there are no values."""
    known = list(values)
    if not known or any(value is None for value in known):
        return None
    if len(known) == 1:
        return known[0]
    return math.exp(math.fsum(math.log(value) for value in known if value is not None) / len(known))
