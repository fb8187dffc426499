"""Computes ranks and the intervals of ranks that paired differences allow. Ties share a rank."""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from scoring.arrays import BoolArray, FloatArray, IntArray
from scoring.uncertainty import FEW_PROBLEMS, Means

FAMILY_LEVEL = 0.05
"""The chance that a board of equal entrants calls any of them surely better or worse than another."""


class Ranks(NamedTuple):
    """Rank and interval of ranks of each entrant (E); 0 if the entrant is not ranked, or its rank has no interval."""

    rank: IntArray
    low: IntArray
    high: IntArray


def ranks_with_ties(scores: FloatArray, tolerance: float) -> IntArray:
    """The rank of each score: 1 + the number of scores that are higher by more than `tolerance`.

    Higher is better. All scores must be finite.
    """
    ordered = np.sort(scores)
    return scores.size - np.searchsorted(ordered, scores + tolerance, side="right") + 1


def rank_entrants(found: Means, ranked: BoolArray, tolerance: float, shared_sd: FloatArray | None = None) -> Ranks:
    """Rank the entrants in `ranked` (E) that have a mean. The others get 0.

    The interval runs from 1 + the number of entrants that are surely better to the number that are not surely worse.
    "Surely" holds for all pairs of the board at once, at `FAMILY_LEVEL`. An entrant with fewer than `FEW_PROBLEMS` has
    no interval. `shared_sd` is that of `mean_interval`.
    """
    chosen = ranked & np.isfinite(found.value)
    value, problems = found.value[chosen], found.problems[chosen]
    rank = ranks_with_ties(value, tolerance)
    shared = np.zeros(chosen.size) if shared_sd is None else shared_sd
    better, worse = _surely(value, found.influence[chosen], problems, shared[chosen] ** 2)
    few = problems < FEW_PROBLEMS
    low = np.where(few, 0, np.minimum(1 + better, rank))
    high = np.where(few, 0, np.maximum(rank.size - worse, rank))
    return Ranks(*(spread(one, chosen) for one in (rank, low, high)))


def _surely(
    value: FloatArray, influence: FloatArray, problems: FloatArray, shared: FloatArray
) -> tuple[IntArray, IntArray]:
    """The numbers of entrants that are surely better and surely worse than each. `shared` are variances.

    A pair's figure is difference ÷ √(mean square of its problems' differences ÷ problems). Where neither is better, it
    is seldom larger than a normal one, however few the problems are and however they are distributed (Efron 1969).
    """
    entrants = value.size
    difference = value[:, None] - value
    square = difference**2
    own = (influence**2).sum(axis=1)
    spread_of_pair = np.maximum(own[:, None] + own - 2 * (influence @ influence.T), 0.0)
    spread_of_pair += shared[:, None] + shared
    figure = square / np.maximum(spread_of_pair + square / np.minimum(problems[:, None], problems), 1e-300)
    few = problems < FEW_PROBLEMS
    figure[few] = figure[:, few] = 0.0
    sure = figure >= least_sure(figure, entrants * (entrants - 1) // 2)
    return (sure & (difference < 0)).sum(axis=1), (sure & (difference > 0)).sum(axis=1)


def least_sure(figure: FloatArray, pairs: int) -> float:
    """The square of the least figure that is sure by Holm's step-down test (1979) of all pairs, at `FAMILY_LEVEL`.

    `figure` (E × E) holds the squares of all pairs' figures, each pair twice.
    """
    known, least = 0, np.inf
    while pairs > known:
        least = NormalDist().inv_cdf(1 - FAMILY_LEVEL / (2 * (pairs - known))) ** 2
        sure = int((figure >= least).sum()) // 2
        if sure == known:
            break
        known = sure
    return least


def spread(values: IntArray, chosen: BoolArray) -> IntArray:
    """The values of those that are chosen, and 0 for the others."""
    whole = np.zeros(chosen.size, dtype=np.int64)
    whole[chosen] = values
    return whole
