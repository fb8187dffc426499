"""Intervals: of a proportion, and of a board's means by a shared bootstrap."""

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.arrays import FloatArray
from scoring.median import Z_95

TAIL = 0.025
# Values are rounded to this step before they are summed over a draw: the sums are then exact in float64 (up to about
# 2 million), so a draw does not depend on the order of entrants, the threads or the processor.
STEP = 2.0**-32
ALIKE = 2.0**-26
"""An interval that is no wider comes from problems that are all alike: its draws differ by the rounding alone."""


def wilson_interval(share: npt.ArrayLike, n: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The 95 % score interval of a proportion of n trials (Wilson 1927); NaN if n is 0. `share` and `n` broadcast.

    The ends lie in [0, 1] and round the share: in exact arithmetic one of them is a share of 0 or 1 itself.
    """
    trials = np.asarray(n, dtype=np.float64)
    trials = np.where(trials > 0, trials, np.nan)
    p = np.asarray(share, dtype=np.float64)
    centre = p + Z_95**2 / (2 * trials)
    half = Z_95 * np.sqrt(p * (1 - p) / trials + (Z_95 / (2 * trials)) ** 2)
    scale = 1 + Z_95**2 / trials
    low, high = np.clip((centre - half) / scale, 0.0, 1.0), np.clip((centre + half) / scale, 0.0, 1.0)
    return np.minimum(low, p), np.maximum(high, p)


@dataclass(frozen=True)
class Estimate:
    """One figure per entrant (E) with its 95 % interval. NaN means that there is no value."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Bootstrap:
    """Each entrant's weighted mean (E), its weighted mean in each draw (E × D), and its number of problems (E)."""

    mean: FloatArray
    draws: FloatArray
    problems: npt.NDArray[np.int64]


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


def geometric(estimate: Estimate) -> Estimate:
    """The estimate of a geometric mean, from the estimate of a mean of logarithms."""
    return Estimate(np.exp(estimate.value), np.exp(estimate.low), np.exp(estimate.high))
