"""The interval of one sample's speedup, from the intervals of its times. Needs no numpy."""

import math
from collections.abc import Sequence
from typing import NamedTuple


class Timed(NamedTuple):
    """A median in ms and the ends of its interval; None where there is none."""

    median_ms: float
    low_ms: float | None
    high_ms: float | None


def speedup_interval(
    speedup: float, cases: Sequence[tuple[Timed, Timed]], n_at_one: int = 0
) -> tuple[float, float] | None:
    """The ends of a speedup that is the geometric mean over these cases, of baseline and candidate, and `n_at_one` more
    that count 1. None if a time has no interval.

    In logarithms a mean's error is the root of the sum of squares of its parts' errors, which are independent, divided
    by their number. Both sides are propagated apart, because intervals of medians are lopsided.
    """
    if not cases or any(None in (one.low_ms, one.high_ms) for pair in cases for one in pair):
        return None
    n = len(cases) + n_at_one
    shorter = [math.log(_above(base.median_ms, base.low_ms)) for base, _ in cases]
    shorter += [math.log(_above(own.high_ms, own.median_ms)) for _, own in cases]
    longer = [math.log(_above(base.high_ms, base.median_ms)) for base, _ in cases]
    longer += [math.log(_above(own.median_ms, own.low_ms)) for _, own in cases]
    return speedup / math.exp(math.hypot(*shorter) / n), speedup * math.exp(math.hypot(*longer) / n)


def _above(upper: float | None, lower: float | None) -> float:
    """The ratio of the upper to the lower end; 1 where a median lies outside of its interval."""
    assert upper is not None
    assert lower is not None
    return max(1.0, upper / lower)
