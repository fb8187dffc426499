"""Compares two entrants on the problems that count for both."""

from dataclasses import dataclass

import numpy as np

from scoring.arrays import BoolArray, FloatArray
from scoring.rules import NEWEST, RULES


@dataclass(frozen=True)
class DrawnPairs:
    """The version of the rules, and the seed and number of draws where they draw."""

    release_digest: str
    draws: int
    rules: int = NEWEST


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
    first: FloatArray, second: FloatArray, counted: BoolArray, board: DrawnPairs, most: float = np.inf
) -> PairedDifference:
    """`first`, `second` and `counted` hold one value per problem (P). More is better.

    What makes a problem easy for both cancels. No difference can exceed `most`: 1 for shares.
    """
    return paired_differences(first[None, :], second, counted[None, :], board, most)[0]


def paired_differences(
    firsts: FloatArray, second: FloatArray, weights: BoolArray | FloatArray, board: DrawnPairs, most: float = np.inf
) -> list[PairedDifference]:
    """Several entrants (E × P) against one (P). Each gets the difference that `paired_difference` gives.

    A problem counts where its weight is above 0.
    """
    counted = np.asarray(weights > 0)
    difference = np.where(counted, firsts - second, 0.0)
    found = RULES[board.rules].differences(difference, weights, board.release_digest, board.draws, most)
    wins, losses = (counted & (difference > 0)).sum(axis=1), (counted & (difference < 0)).sum(axis=1)
    figures = zip(found.value, found.low, found.high, counted.sum(axis=1), wins, losses, strict=True)
    return [
        PairedDifference(float(mean), float(least), float(most), int(problems), int(won), int(lost))
        for mean, least, most, problems, won, lost in figures
    ]
