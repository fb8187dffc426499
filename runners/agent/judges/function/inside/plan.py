"""How often a case is called, how well its time is known then, and what a call costs beside the solution."""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

DEVIATES = 1.96
"""Standard deviations on either side of the middle of a normal distribution that hold 95 % of it."""


class Plan(NamedTuple):
    """How often a case is called, beyond the calls that are not timed."""

    least_calls: int = 5
    most_calls: int = 20
    enough_seconds: float = 0.2
    """Stop once the timed calls took so long together, and there are enough of them."""
    longest_seconds: float = 4.0
    """Stop once the case has taken so long, checking included; at least three calls are timed."""
    budget_seconds: float = 60.0
    """For all calls of all cases."""
    n_shown: int = 0
    """How many elements of each array of the last call are told, for a trial."""
    warm_ups: int = 2
    """Calls that are checked but not timed. The first may compile."""
    precision: float = 0.0
    """If positive, stop once the 95 % interval of the median reaches no farther from it than this share of it, or the
    case has taken `enough_seconds`, checking included."""


class Overhead(NamedTuple):
    """Nanoseconds of a call that are not the solution's, as calibrated with a solution that fills its outputs."""

    goes_ns: tuple[float, ...] = (0.0,)
    """The way from go to done, by process in which it was calibrated."""
    some_ns: float = 0.0
    """A secret scatter of the inputs inside the clock, and the copying of the outputs."""
    single_ns: float = 0.0
    """The median time of a go with one set until the answer, in a case that has several."""
    single_spread_ns: float = 0.0
    """Between the quartiles of those goes."""
    is_short: bool = False
    """Whether the case is too short to have a time; then nothing else is known."""

    @property
    def call_ns(self) -> float:
        """Nanoseconds of a call with a scatter."""
        return statistics.median(self.goes_ns) + self.some_ns

    @property
    def spread_ns(self) -> float:
        """Between the least and the largest way from go to done."""
        return max(self.goes_ns) - min(self.goes_ns)


class DeviceCost(NamedTuple):
    """Nanoseconds of a call on a GPU that are not the solution's, as calibrated with one whose time is known."""

    clocks_ns: tuple[float, ...] = (0.0,)
    """From the checker's word to the contestant's, by process in which it was calibrated."""
    hosts_ns: tuple[float, ...] = (0.0,)
    """The same by the host's clock."""
    copies_ns: float = 0.0
    """From the contestant's word to the end of the copies."""
    known_ns: float = math.inf
    """The checker's work before its word, on a device that nothing else uses."""
    reference_ns: float = 0.0
    """Nanoseconds of the problem's own reference in the checker."""


def spread(times_ns: Sequence[float]) -> tuple[float, float]:
    """The median, and how far the quartiles are from each other; zeros without times."""
    if not times_ns:
        return 0.0, 0.0
    low, median, high = statistics.quantiles(times_ns)
    return median, high - low


def deviation(times_ns: Sequence[float]) -> float:
    """How far the 95 % interval of the median reaches from it, as a share of it, by the normal approximation of ranks;
    infinite if the median is not positive or there are too few times."""
    ordered, count = sorted(times_ns), len(times_ns)
    low = math.floor((count - DEVIATES * math.sqrt(count)) / 2)  # ranks from 1 on
    high = math.ceil(1 + (count + DEVIATES * math.sqrt(count)) / 2)
    median = statistics.median(ordered) if ordered else 0.0
    if median <= 0 or low < 1 or high > count:
        return math.inf
    return max(ordered[high - 1] - median, median - ordered[low - 1]) / median
