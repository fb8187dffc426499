"""The versions of the rules by which a release is ranked. A published release keeps its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from scoring.arrays import BoolArray, FloatArray
from scoring.bootstrap import bootstrap_differences, bootstrap_mean
from scoring.ranking import Ranks, rank_entrants
from scoring.sample import TimedCase, counted_if_faster, counted_if_surely_faster
from scoring.shared_problems import over_all, over_shared
from scoring.uncertainty import Estimate, Means, bounded, mean_interval, means, share_interval


class Measured(Protocol):
    """Means over problems, from which intervals and ranks follow."""

    def of_shares(self, most_trials: FloatArray | None = None, /) -> Estimate:
        """Means of values in [0, 1]. `most_trials` (E) bounds what a problem can tell."""

    def of_logs(self, least: float, shared_sd: FloatArray, /) -> Estimate:
        """Means of logarithms, none of which lies below `least`."""

    def ranks(self, ranked: BoolArray, tolerance: float, shared_sd: FloatArray, /) -> Ranks:
        """Ranks of the entrants in `ranked` and their intervals."""


@dataclass(frozen=True)
class Rules:
    """One version. A release stores its number."""

    version: int
    title: str
    counted: Callable[[float, Sequence[TimedCase]], float]
    """The logarithm that a passed sample of this speedup counts in its entrant's."""
    measure: Callable[[FloatArray, FloatArray, str, int], Measured]
    """Means over problems of E × P values and weights. The seed and the number of draws are for rules that draw."""
    differences: Callable[[FloatArray, BoolArray | FloatArray, str, int, float], Estimate]
    """Means of E × P paired differences by the weights of problems, none of which exceeds the last argument."""
    rates: Callable[[FloatArray, FloatArray, BoolArray, BoolArray, BoolArray], tuple[FloatArray, BoolArray]] = (
        over_shared
    )
    """The GFLOPS that are averaged, and over which problems, both E × P. From own GFLOPS (E × P), those of the baseline
    (P), the ranked entrants (E), the problems that count (E × P) and the voided ones (P)."""
    watches_noise: bool = False
    """Whether times of nodes and days that do not time references at 1 × are left out."""


@dataclass(frozen=True)
class _InClosedForm:
    found: Means

    def of_shares(self, most_trials: FloatArray | None = None) -> Estimate:
        return share_interval(self.found, most_trials)

    def of_logs(self, least: float, shared_sd: FloatArray) -> Estimate:
        return bounded(mean_interval(self.found, shared_sd), least)

    def ranks(self, ranked: BoolArray, tolerance: float, shared_sd: FloatArray) -> Ranks:
        return rank_entrants(self.found, ranked, tolerance, shared_sd)


def _measure(values: FloatArray, weights: FloatArray, _digest: str, _draws: int) -> Measured:
    return _InClosedForm(means(values, weights))


def _differences(
    difference: FloatArray, weights: BoolArray | FloatArray, _digest: str, _draws: int, most: float
) -> Estimate:
    return bounded(mean_interval(means(difference, weights.astype(float))), -most, most)


FIRST = Rules(
    1,
    "a sample counts max(1, s); intervals and ranks by a bootstrap over problems, each pair of entrants by itself",
    counted_if_faster,
    bootstrap_mean,
    bootstrap_differences,
)
SECOND = Rules(
    2,
    "a sample counts more than 1 only where it is surely faster; intervals in closed form that cover 95 %; rank"
    " intervals for all pairs at once",
    counted_if_surely_faster,
    _measure,
    _differences,
)
THIRD = Rules(
    3,
    "GFLOPS over a fixed set of problems, in which the baseline's count where an entrant has no time that ranks; times"
    " of nodes and days that do not time references at 1 × wait",
    counted_if_surely_faster,
    _measure,
    _differences,
    over_all,
    watches_noise=True,
)
RULES = {one.version: one for one in (FIRST, SECOND, THIRD)}
NEWEST = THIRD.version


def changes_since(version: int) -> str:
    """The changes of the rules after this version, as the titles of those versions."""
    return "; ".join(RULES[one].title for one in sorted(RULES) if one > version)
