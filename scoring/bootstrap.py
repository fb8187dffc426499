"""The first rules: intervals of a board's means, and of ranks, by a bootstrap over problems that entrants share.

Boards of releases that were published under these rules keep them.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.arrays import BoolArray, FloatArray, IntArray
from scoring.ranking import Ranks, ranks_with_ties, spread
from scoring.uncertainty import Estimate, wilson_interval

PlaceArray = npt.NDArray[np.unsignedinteger[Any]]
BYTES_AT_ONCE = 8
TAIL = 0.025
# Values are rounded to this step before they are summed over a draw: the sums are then exact in float64 (up to about
# 2 million), so a draw does not depend on the order of entrants, the threads or the processor.
STEP = 2.0**-32
ALIKE = 2.0**-26
"""An interval that is no wider comes from problems that are all alike: its draws differ by the rounding alone."""


@dataclass(frozen=True)
class Bootstrap:
    """Each entrant's weighted mean (E), its weighted mean in each draw (E × D), and its number of problems (E)."""

    mean: FloatArray
    draws: FloatArray
    problems: IntArray

    def of_shares(self, _most_trials: FloatArray | None = None) -> Estimate:
        return proportion_interval(self)

    def of_logs(self, least: float, _shared_sd: FloatArray) -> Estimate:
        return percentile_interval(self, least)

    def ranks(self, ranked: BoolArray, tolerance: float, _shared_sd: FloatArray) -> Ranks:
        return rank_by_draws(self, ranked, tolerance)


def problem_draws(release_digest: str, draws: int, problems: int) -> FloatArray:
    """The number of times that each problem occurs in each draw: draws × problems.

    A draw takes as many problems as there are, with replacement. The seed is the digest. The generator is PCG64's raw
    output, because numpy promises never to change its stream.
    """
    seed = int.from_bytes(hashlib.sha256(release_digest.encode()).digest(), "big")
    raw = np.random.PCG64(seed).random_raw(draws * problems) >> np.uint64(32)
    drawn = ((raw * np.uint64(problems)) >> np.uint64(32)).astype(np.int64)
    cells = drawn + np.repeat(np.arange(draws), problems) * problems
    return np.bincount(cells, minlength=draws * problems).reshape(draws, problems).astype(np.float64)


def bootstrap_mean(values: FloatArray, weights: FloatArray, release_digest: str, draws: int) -> Bootstrap:
    """Weighted means over problems and their bootstrap. All entrants share the same draws.

    `values` and `weights` are E × P. A weight of 0 leaves the problem out for that entrant, and its value is ignored.
    Problems without any weight are not drawn. If a draw has none of an entrant's problems, the entrant's mean is used.
    """
    used = (weights > 0).any(axis=0)
    weight = np.compress(used, weights, axis=1)
    product = np.where(weight > 0, np.compress(used, values, axis=1) * weight, 0.0)
    mean = _ratio(product.sum(axis=1), weight.sum(axis=1), np.full(len(values), np.nan))
    counts = problem_draws(release_digest, draws, int(used.sum()))
    drawn = _ratio(_exact(product) @ counts.T, _exact(weight) @ counts.T, mean[:, None])
    return Bootstrap(mean, np.where(np.isnan(mean)[:, None], np.nan, drawn), (weight > 0).sum(axis=1))


def _exact(values: FloatArray) -> FloatArray:
    return np.rint(np.where(np.isnan(values), 0.0, values) / STEP) * STEP


def _ratio(numerator: FloatArray, denominator: FloatArray, otherwise: FloatArray) -> FloatArray:
    safe = np.where(denominator > 0, denominator, 1.0)
    return np.where(denominator > 0, numerator / safe, otherwise)


def tail_draws(draws: int) -> int:
    """The number of draws that lie outside the interval on each side."""
    return int(TAIL * draws)


def percentile_interval(bootstrap: Bootstrap, least: float = -np.inf, most: float = np.inf) -> Estimate:
    """The means with the draws' 2.5th and 97.5th percentiles. The ends are NaN if fewer than two problems count.

    Where all n problems are alike the draws show no spread. The ends are then 1 / (n + 1) from the mean, as if one
    more problem lay 1 away, but not outside `least` and `most`, between which every problem's value lies.
    """
    estimate = _percentiles(bootstrap)
    alike = _alike(estimate)
    margin = 1 / (bootstrap.problems + 1)
    low = np.where(alike, np.maximum(estimate.value - margin, np.minimum(estimate.value, least)), estimate.low)
    high = np.where(alike, np.minimum(estimate.value + margin, np.maximum(estimate.value, most)), estimate.high)
    return Estimate(estimate.value, low, high)


def proportion_interval(bootstrap: Bootstrap) -> Estimate:
    """The percentile interval of a mean of shares, or Wilson's interval where all problems have the same share."""
    estimate = _percentiles(bootstrap)
    alike = _alike(estimate)
    low, high = wilson_interval(np.where(alike, np.clip(estimate.value, 0.0, 1.0), 0.0), bootstrap.problems)
    return Estimate(estimate.value, np.where(alike, low, estimate.low), np.where(alike, high, estimate.high))


def _percentiles(bootstrap: Bootstrap) -> Estimate:
    count = bootstrap.draws.shape[1]
    ends = [tail_draws(count), count - 1 - tail_draws(count)]
    ordered = np.partition(bootstrap.draws, ends, axis=1)
    enough = bootstrap.problems >= 2
    low, high = (np.where(enough, ordered[:, end], np.nan) for end in ends)
    # The draws are rounded so that their sums are exact. An end may therefore pass the mean by less than the rounding.
    return Estimate(bootstrap.mean, np.minimum(low, bootstrap.mean), np.maximum(high, bootstrap.mean))


def _alike(estimate: Estimate) -> npt.NDArray[np.bool_]:
    """E: whether the draws show no spread. An interval that is missing stays missing."""
    return np.asarray(estimate.high - estimate.low <= ALIKE)


def rank_by_draws(bootstrap: Bootstrap, ranked: BoolArray, tolerance: float) -> Ranks:
    """Rank the entrants in `ranked` (E) that have a mean by `bootstrap.mean`. The others get 0.

    The interval runs from 1 + the number of entrants that are surely better to the number that are not surely worse.
    "Surely" means that the paired 95 % interval of the difference, over the draws that both share, excludes 0.
    """
    chosen = ranked & np.isfinite(bootstrap.mean)
    rank = ranks_with_ties(bootstrap.mean[chosen], tolerance)
    better, worse = _surely(np.compress(chosen, bootstrap.draws, axis=0), bootstrap.problems[chosen])
    low, high = np.minimum(1 + better, rank), np.maximum(rank.size - worse, rank)
    return Ranks(spread(rank, chosen), spread(low, chosen), spread(high, chosen))


def _surely(draws: FloatArray, problems: IntArray) -> tuple[IntArray, IntArray]:
    """The numbers of entrants that are surely better and surely worse than each; 0 with fewer than two problems."""
    entrants, count = draws.shape
    better, worse = np.zeros(entrants, dtype=np.int64), np.zeros(entrants, dtype=np.int64)
    enough, places = problems >= 2, _places(draws)
    needed = count - tail_draws(count)
    for entrant in np.flatnonzero(enough):
        beaten = (_wins(places[entrant], places) >= needed) & enough
        worse[entrant] = beaten.sum()
        better += beaten
    return better, worse


def _places(draws: FloatArray) -> PlaceArray:
    """Each entrant's dense place in each draw, from 0; ties share a place. The draws are padded with 0 to whole words.

    Small integers compare several times as fast as floats. All entrants tie in a padded draw, so no entrant wins it.
    """
    entrants, count = draws.shape
    places = np.zeros((entrants, -(-count // BYTES_AT_ONCE) * BYTES_AT_ONCE), dtype=np.uint32)
    order = np.argsort(draws, axis=0)
    ordered = np.take_along_axis(draws, order, axis=0)
    ties = (ordered[1:] == ordered[:-1]) | np.isnan(ordered[:-1])  # NaN comes last
    steps = np.concatenate([np.zeros((min(entrants, 1), count), dtype=bool), ~ties])
    np.put_along_axis(places[:, :count], order, np.cumsum(steps, axis=0, dtype=np.uint32), axis=0)
    return places.astype(np.uint16) if entrants < 2**16 else places


def _wins(one: PlaceArray, all_places: PlaceArray) -> IntArray:
    """The number of draws in which `one` (D) lies above each of `all_places` (E × D)."""
    above = (one > all_places).view(np.uint64)
    return np.asarray(np.bitwise_count(above).sum(axis=1, dtype=np.int64))


def bootstrap_differences(
    difference: FloatArray, weights: BoolArray | FloatArray, release_digest: str, draws: int, most: float
) -> Estimate:
    """Means of paired differences, E × P. The draws depend on which problems count: pairs over the same ones share."""
    low, high, value = (np.full(len(difference), np.nan) for _ in range(3))
    masks, mask_of = np.unique(weights, axis=0, return_inverse=True)
    for n in range(len(masks)):
        rows = mask_of.reshape(-1) == n
        bootstrap = bootstrap_mean(difference[rows], weights[rows].astype(np.float64), release_digest, draws)
        found = percentile_interval(bootstrap, -most, most)
        value[rows], low[rows], high[rows] = found.value, found.low, found.high
    return Estimate(value, low, high)
