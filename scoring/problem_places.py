"""Places of samples on one problem, from their figures and the intervals of these."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scoring.arrays import BoolArray, FloatArray
from scoring.median import Z_95
from scoring.ranking import least_sure
from scoring.sample import UNKNOWN_NOISE


class PlacedFigure(NamedTuple):
    """A positive figure of which more is better, and the ends of its 95 % interval; None where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None


def places(figures: Sequence[PlacedFigure]) -> list[int]:
    """The place of each figure: 1 + the number of figures that are surely better. The others tie with it.

    Two figures with intervals are compared as a board compares two entrants: one is surely better where the difference
    of their logarithms, divided by its standard deviation, exceeds Holm's step for all pairs (`ranking.least_sure`).
    Where one of the two has no interval the larger is better; a figure that is missing is worse than any.
    """
    value = np.array([np.nan if one.value is None else one.value for one in figures])
    low = np.array([np.nan if one.low is None else one.low for one in figures])
    high = np.array([np.nan if one.high is None else one.high for one in figures])
    known = np.isfinite(value) & np.isfinite(low) & np.isfinite(high)
    larger = np.where(np.isnan(value), -np.inf, value)
    better = larger[None, :] > larger[:, None]
    both = known[:, None] & known
    return [int(n) for n in 1 + np.where(both, better & _sure(value, low, high, known), better).sum(axis=1)]


def _sure(value: FloatArray, low: FloatArray, high: FloatArray, known: BoolArray) -> BoolArray:
    """Whether each two figures that are `known` differ surely. An interval of no width tells nothing of the noise."""
    ln, below, above = (np.where(known, np.log(np.where(known, one, 1.0)), 0.0) for one in (value, low, high))
    lower, upper = np.maximum(ln - below, 0.0), np.maximum(above - ln, 0.0)
    arms = np.hypot(lower[None, :], upper[:, None])  # of the better one, a column, the lower arm
    arms = np.where(ln[None, :] >= ln[:, None], arms, arms.T)
    arms = np.where(arms > 0, arms, UNKNOWN_NOISE)
    figure = ((ln[None, :] - ln[:, None]) * Z_95 / arms) ** 2
    figure[~known] = figure[:, ~known] = 0.0
    n = int(known.sum())
    sure: BoolArray = figure >= least_sure(figure, n * (n - 1) // 2)
    return sure
