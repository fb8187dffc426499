"""Detects drift in a device's golden times. The inputs are medians in milliseconds, oldest first."""

import statistics
from collections.abc import Sequence

TOLERANCE = 0.02
WINDOW = 20
"""Number of earlier medians that a new one is compared with."""
FEWEST = 5
"""Minimum number of earlier medians for a comparison."""
RUNNING = 2
"""Number of drifted medians in a row that make a drifted device. A single one may have a passing cause."""


def drift(earlier: Sequence[float], median_ms: float) -> float | None:
    """The relative distance of a median from that of the last 20, 0.01 for 1 % slower; None if too few are known."""
    if len(earlier) < FEWEST:
        return None
    return median_ms / statistics.median(earlier[-WINDOW:]) - 1


def has_drifted(medians_ms: Sequence[float]) -> bool:
    """Whether each of the two newest medians differs by more than 2 % from the medians before it."""
    newest = range(len(medians_ms) - RUNNING, len(medians_ms))
    return newest[0] >= 0 and all(_is_off(medians_ms[:index], medians_ms[index]) for index in newest)


def _is_off(earlier: Sequence[float], median_ms: float) -> bool:
    found = drift(earlier, median_ms)
    return found is not None and abs(found) > TOLERANCE
