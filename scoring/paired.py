"""Compares two entrants on the problems that count for both."""

from dataclasses import dataclass

import numpy as np

from scoring.arrays import BoolArray, FloatArray
from scoring.uncertainty import bootstrap_mean, percentile_interval


@dataclass(frozen=True)
class PairedDifference:
    """The mean over problems of first − second with its 95 % interval; NaN where there is no value."""

    value: float
    low: float
    high: float
    problems: int
    wins: int
    """Problems on which the first is better."""
    losses: int

    @property
    def ties(self) -> int:
        return self.problems - self.wins - self.losses


def paired_difference(
    first: FloatArray, second: FloatArray, counted: BoolArray, release_digest: str, draws: int
) -> PairedDifference:
    """`first`, `second` and `counted` hold one value per problem (P). More is better.

    The bootstrap draws problems, both entrants' values together, so that what makes a problem easy for both cancels.
    """
    difference = np.where(counted, first - second, 0.0)
    bootstrap = bootstrap_mean(difference[None, :], counted[None, :].astype(np.float64), release_digest, draws)
    interval = percentile_interval(bootstrap)
    return PairedDifference(
        value=float(interval.value[0]),
        low=float(interval.low[0]),
        high=float(interval.high[0]),
        problems=int(counted.sum()),
        wins=int((counted & (difference > 0)).sum()),
        losses=int((counted & (difference < 0)).sum()),
    )
