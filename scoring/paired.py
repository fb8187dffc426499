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
    first: FloatArray, second: FloatArray, counted: BoolArray, release_digest: str, draws: int, most: float = np.inf
) -> PairedDifference:
    """`first`, `second` and `counted` hold one value per problem (P). More is better.

    The bootstrap draws problems, both entrants' values together, so that what makes a problem easy for both cancels.
    No difference can exceed `most`: 1 for shares.
    """
    return paired_differences(first[None, :], second, counted[None, :], release_digest, draws, most)[0]


def paired_differences(
    firsts: FloatArray, second: FloatArray, counted: BoolArray, release_digest: str, draws: int, most: float = np.inf
) -> list[PairedDifference]:
    """Several entrants (E × P) against one (P). Each difference is the one that `paired_difference` gives for the pair.

    The draws depend on which problems count, so pairs over the same problems share one bootstrap.
    """
    difference = np.where(counted, firsts - second, 0.0)
    low, high, value = (np.full(len(firsts), np.nan) for _ in range(3))
    masks, mask_of = np.unique(counted, axis=0, return_inverse=True)
    for n in range(len(masks)):
        rows = mask_of.reshape(-1) == n
        weights = counted[rows].astype(np.float64)
        bootstrap = bootstrap_mean(difference[rows], weights, release_digest, draws)
        found = percentile_interval(bootstrap, -most, most)
        value[rows], low[rows], high[rows] = found.value, found.low, found.high
    wins, losses = (counted & (difference > 0)).sum(axis=1), (counted & (difference < 0)).sum(axis=1)
    figures = zip(value, low, high, counted.sum(axis=1), wins, losses, strict=True)
    return [
        PairedDifference(float(mean), float(least), float(most), int(problems), int(won), int(lost))
        for mean, least, most, problems, won, lost in figures
    ]
