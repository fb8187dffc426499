"""Intervals: of a median from its order statistics, of a proportion, and of a board's means by a shared bootstrap."""

import hashlib
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scoring.arrays import FloatArray

CONFIDENCE = 0.95
TAIL = 0.025
Z_95 = 1.959963984540054
EXACT_RUNS = 1000
# Values are rounded to this step before they are summed over a draw: the sums are then exact in float64 (up to about
# 2 million), so a draw does not depend on the order of entrants, the threads or the processor.
STEP = 2.0**-32


class MedianInterval(NamedTuple):
    """A median and the interval that covers the true one with at least 95 %; None where there are too few runs."""

    median: float
    low: float | None
    high: float | None


@lru_cache(maxsize=4096)
def median_ranks(n: int) -> tuple[int, int, float] | None:
    """The narrowest symmetrical pair of order statistics (from 1) around the median of n, and what it covers.

    (r, n+1−r) covers with 1 − 2·P(Binomial(n, ½) < r); None where even (1, n) covers less than 95 %, that is n < 6.
    """
    rank, coverage = _counted_rank(n) if n <= EXACT_RUNS else _normal_rank(n)
    return (rank, n + 1 - rank, coverage) if rank else None


def _counted_rank(n: int) -> tuple[int, float]:
    rank, below, term = 0, 0, 1
    while 1 - 2 * (below + term) / 2**n >= CONFIDENCE:
        below += term
        term = term * (n - rank) // (rank + 1)
        rank += 1
    return rank, 1 - 2 * below / 2**n


def _normal_rank(n: int) -> tuple[int, float]:
    # With the continuity correction this was never narrower than counting, for every n from 900 to 4,000.
    rank = math.floor((n + 1 - Z_95 * math.sqrt(n)) / 2)
    return rank, math.erf((n + 1 - 2 * rank) / math.sqrt(2 * n))


def median_interval(runs: npt.ArrayLike) -> MedianInterval:
    """The median of `runs` (any unit) with its 95 % interval, in the same unit. ValueError without finite runs."""
    ordered = np.sort(np.asarray(runs, dtype=np.float64).ravel())
    if ordered.size == 0 or not np.isfinite(ordered).all():
        raise ValueError(f"a median needs at least one run and finite ones only; got {ordered.size} runs")
    ranks = median_ranks(int(ordered.size))
    median = float(np.median(ordered))
    if ranks is None:
        return MedianInterval(median, None, None)
    return MedianInterval(median, float(ordered[ranks[0] - 1]), float(ordered[ranks[1] - 1]))


def miller_standard_error(values: npt.ArrayLike) -> FloatArray:
    """√(Σ (s − s̄)² / (N (N−1))) over the last axis, one value per problem (Miller 2024); NaN where N < 2."""
    scores = np.asarray(values, dtype=np.float64)
    count = scores.shape[-1]
    if count < 2:
        return np.full(scores.shape[:-1], np.nan)
    return np.asarray(scores.std(axis=-1, ddof=1) / np.sqrt(count))


def wilson_interval(share: npt.ArrayLike, n: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The 95 % score interval of a proportion of n trials (Wilson 1927); NaN where n is 0."""
    trials = np.asarray(n, dtype=np.float64)
    trials = np.where(trials > 0, trials, np.nan)
    p = np.asarray(share, dtype=np.float64)
    centre = p + Z_95**2 / (2 * trials)
    half = Z_95 * np.sqrt(p * (1 - p) / trials + (Z_95 / (2 * trials)) ** 2)
    scale = 1 + Z_95**2 / trials
    return np.clip((centre - half) / scale, 0.0, 1.0), np.clip((centre + half) / scale, 0.0, 1.0)


@dataclass(frozen=True)
class Estimate:
    """One figure per entrant (E) with its 95 % interval; NaN where there is none."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Bootstrap:
    """The weighted mean of each entrant (E), the same under each draw (E × D), and the problems it rests on (E)."""

    mean: FloatArray
    draws: FloatArray
    problems: npt.NDArray[np.int64]


def problem_draws(release_digest: str, draws: int, problems: int) -> FloatArray:
    """How often each problem is drawn when as many as there are get drawn with replacement: draws × problems.

    Seeded by the digest through PCG64's raw output, whose stream numpy promises never to change.
    """
    seed = int.from_bytes(hashlib.sha256(release_digest.encode()).digest(), "big")
    raw = np.random.PCG64(seed).random_raw(draws * problems) >> np.uint64(32)
    drawn = ((raw * np.uint64(problems)) >> np.uint64(32)).astype(np.int64)
    cells = drawn + np.repeat(np.arange(draws), problems) * problems
    return np.bincount(cells, minlength=draws * problems).reshape(draws, problems).astype(np.float64)


def bootstrap_mean(values: FloatArray, weights: FloatArray, release_digest: str, draws: int) -> Bootstrap:
    """Weighted means over problems and their bootstrap, every entrant under the same draws.

    `values` and `weights` are E × P; a weight of 0 leaves a problem out for that entrant and its value is ignored.
    Problems without any weight are not drawn. A draw without any of an entrant's problems takes the entrant's mean.
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
    """How many of the draws lie outside the interval on each side."""
    return int(TAIL * draws)


def percentile_interval(bootstrap: Bootstrap) -> Estimate:
    """The means with the draws' 2.5th and 97.5th percentiles; no interval where fewer than two problems count."""
    count = bootstrap.draws.shape[1]
    ends = [tail_draws(count), count - 1 - tail_draws(count)]
    ordered = np.partition(bootstrap.draws, ends, axis=1)
    enough = bootstrap.problems >= 2
    low, high = (np.where(enough, ordered[:, end], np.nan) for end in ends)
    # The draws are rounded so that their sums are exact: an end may then pass the mean by less than that rounding.
    return Estimate(bootstrap.mean, np.minimum(low, bootstrap.mean), np.maximum(high, bootstrap.mean))


def proportion_interval(bootstrap: Bootstrap) -> Estimate:
    """As `percentile_interval`, with Wilson's where all passes or none do and every draw is therefore the same."""
    estimate = percentile_interval(bootstrap)
    uniform = (bootstrap.mean == 0) | (bootstrap.mean == 1)
    low, high = wilson_interval(np.where(uniform, bootstrap.mean, 0.0), bootstrap.problems)
    return Estimate(estimate.value, np.where(uniform, low, estimate.low), np.where(uniform, high, estimate.high))


def geometric(estimate: Estimate) -> Estimate:
    """Brings an estimate of a mean of logarithms back to the scale of a ratio."""
    return Estimate(np.exp(estimate.value), np.exp(estimate.low), np.exp(estimate.high))
