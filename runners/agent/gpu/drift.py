"""Whether a device's golden times have drifted: pure arithmetic over their medians, oldest first, in milliseconds."""

import statistics
from collections.abc import Sequence

TOLERANCE = 0.02
WINDOW = 20
"""Earlier medians that a new one is compared with."""
FEWEST = 5
"""Earlier medians without which there is no judgement."""
RUNNING = 2
"""How many drifted medians in a row make a drifted device: one alone may be a passing cause."""


def drift(earlier: Sequence[float], median_ms: float) -> float | None:
    """How far a median lies from the median of the last 20, as 0.01 for 1 % slower; None where too few are known."""
    if len(earlier) < FEWEST:
        return None
    return median_ms / statistics.median(earlier[-WINDOW:]) - 1


def has_drifted(medians_ms: Sequence[float]) -> bool:
    """Whether each of the two newest medians differs by more than 2 % from those before it."""
    newest = range(len(medians_ms) - RUNNING, len(medians_ms))
    return newest[0] >= 0 and all(_is_off(medians_ms[:index], medians_ms[index]) for index in newest)


def _is_off(earlier: Sequence[float], median_ms: float) -> bool:
    found = drift(earlier, median_ms)
    return found is not None and abs(found) > TOLERANCE
