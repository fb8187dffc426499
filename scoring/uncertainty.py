"""Intervals of means over problems, for the mean over problems like these: closed forms, without random draws."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.arrays import FloatArray
from scoring.median import Z_95

FEW_PROBLEMS = 5
"""The number of problems below which an interval is only a hint, and ranks have none."""
_EXACT_T = (12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624)
"""Student's 97.5 % quantile of 1 to 7 degrees of freedom."""
ALIKE = 2.0**-40
"""Problems differ by rounding alone where the variance of their mean is no larger than the square of this."""


@dataclass(frozen=True)
class Estimate:
    """One figure per entrant (E) with its 95 % interval. NaN means that there is no value."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Means:
    """Weighted means over problems and how much each problem moves them."""

    value: FloatArray
    """E; NaN without a problem, or if the value of a problem that counts is missing."""
    influence: FloatArray
    """E × P: w (x − mean) ÷ Σw. A row sums to 0; the sum of its squares is the variance of the mean."""
    problems: FloatArray
    """E: the number of problems; with unequal weights (Σw)² ÷ Σw² (Kish 1965)."""

    @property
    def variance(self) -> FloatArray:
        return row_sums(self.influence**2)

    def without_interval(self) -> npt.NDArray[np.bool_]:
        """E: whether fewer than two problems count."""
        return np.asarray(~(self.problems > 1) | np.isnan(self.value))


def row_sums(values: FloatArray) -> FloatArray:
    """The sum of each row, term by term: left-out problems, other entrants and the processor change no bit of it."""
    if not values.shape[1]:
        return np.zeros(len(values))
    return np.asarray(np.cumsum(values, axis=1)[:, -1])


def means(values: FloatArray, weights: FloatArray) -> Means:
    """`values` and `weights` are E × P. A weight of 0 leaves the problem out for that entrant, its value ignored."""
    used = weights > 0
    total = row_sums(weights)
    divisor = np.where(total > 0, total, np.nan)
    value = row_sums(np.where(used, values * weights, 0.0)) / divisor
    influence = np.where(used, (values - value[:, None]) * weights, 0.0) / divisor[:, None]
    problems = np.where(total > 0, total**2 / np.where(total > 0, row_sums(weights**2), 1.0), 0.0)
    return Means(value, np.nan_to_num(influence), problems)


def student_t(freedom: FloatArray) -> FloatArray:
    """Student's 97.5 % quantile. Below 7 degrees of freedom exact at whole ones and interpolated between them; from 7
    on by Fisher's expansion (error below 0.0001)."""
    z, n = Z_95, np.maximum(freedom, 4.0)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    expansion = z + sum(term / n ** (power + 1) for power, term in enumerate(terms))
    known = np.interp(freedom, np.arange(1, len(_EXACT_T) + 1), _EXACT_T)
    return np.where(freedom < len(_EXACT_T), known, expansion)


def wilson_interval(share: npt.ArrayLike, n: npt.ArrayLike, z: npt.ArrayLike = Z_95) -> tuple[FloatArray, FloatArray]:
    """The score interval of a proportion of n trials (Wilson 1927), 95 % with the default `z`; NaN if n is 0.

    The arguments broadcast. The ends lie in [0, 1] and round the share: in exact arithmetic one of them is a share of
    0 or 1 itself.
    """
    trials, quantile = np.asarray(n, dtype=np.float64), np.asarray(z, dtype=np.float64)
    trials = np.where(trials > 0, trials, np.nan)
    p = np.asarray(share, dtype=np.float64)
    centre = p + quantile**2 / (2 * trials)
    half = quantile * np.sqrt(p * (1 - p) / trials + (quantile / (2 * trials)) ** 2)
    scale = 1 + quantile**2 / trials
    low, high = np.clip((centre - half) / scale, 0.0, 1.0), np.clip((centre + half) / scale, 0.0, 1.0)
    return np.minimum(low, p), np.maximum(high, p)


def share_interval(found: Means, most_trials: FloatArray | None = None) -> Estimate:
    """Means of values in [0, 1]: Wilson's interval of as many trials as would vary like the problems do.

    The trials are mean (1 − mean) ÷ variance, at least one a problem (Kish's design effect; Dean and Pagano 2015), and
    at most `most_trials` (E) a problem. Where all problems are alike the variance says nothing, and each is one trial.
    The square of the quantile lies between the normal one's, if each problem is one trial and the variance thus follows
    from the mean, and Student's, if the variance is an estimate of its own.
    """
    value = np.clip(found.value, 0.0, 1.0)
    variance = found.variance
    varies = variance > ALIKE**2
    trials = np.where(varies, value * (1 - value) / np.where(varies, variance, 1.0), found.problems)
    if most_trials is not None:
        trials = np.minimum(trials, found.problems * most_trials)
    trials = np.maximum(trials, found.problems)
    whole = np.where(trials > 0, found.problems / np.where(trials > 0, trials, 1.0), 1.0)
    quantile = np.sqrt(whole * Z_95**2 + (1 - whole) * student_t(found.problems - 1) ** 2)
    low, high = wilson_interval(value, trials, quantile)
    return _estimate(found, low, high)


def mean_interval(found: Means, shared_sd: FloatArray | float = 0.0) -> Estimate:
    """Means of values without bounds, such as logarithms: Hall's transformed t interval (1992), made for skewed values.

    Where all problems are alike, the ends are as far as Wilson's are from a share of 0: as if a problem could lie 1
    away. `shared_sd` (E) is the standard deviation of the noise that all problems of an entrant share. Their spread
    does not show it, so it is added to both arms in quadrature.
    """
    squares = found.variance
    varies = squares > ALIKE**2
    safe = np.where(varies, squares, 1.0)
    skew = np.where(varies, row_sums(found.influence**3) / safe**1.5, 0.0)
    n = np.maximum(found.problems, 2.0)
    quantile = student_t(n - 1)
    below, above = (np.sqrt(squares) * np.abs(_hall(side * quantile, skew)) for side in (1, -1))
    alone = Z_95**2 / (n + Z_95**2)
    noise = (Z_95 * shared_sd) ** 2
    arms = (np.sqrt(np.where(varies, arm, alone) ** 2 + noise) for arm in (below, above))
    return _estimate(found, found.value - next(arms), found.value + next(arms))


def _hall(t: FloatArray, skew: FloatArray) -> FloatArray:
    """The inverse of Hall's monotone cubic t + a t² + a² t³ ÷ 3 + skew ÷ 6 with a = skew ÷ 3.

    `skew` is the skewness of the mean: that of the problems by √problems.
    """
    a = np.where(np.abs(skew) > 1e-9, skew / 3, 1e-9)
    return np.asarray((np.cbrt(1 + 3 * a * (t - skew / 6)) - 1) / a)


def _estimate(found: Means, low: FloatArray, high: FloatArray) -> Estimate:
    none = found.without_interval()
    low, high = np.minimum(low, found.value), np.maximum(high, found.value)
    return Estimate(found.value, np.where(none, np.nan, low), np.where(none, np.nan, high))


def bounded(estimate: Estimate, least: float, most: float = np.inf) -> Estimate:
    """The estimate with ends that do not pass what a value can be."""
    low = np.maximum(estimate.low, np.minimum(estimate.value, least))
    return Estimate(estimate.value, low, np.minimum(estimate.high, np.maximum(estimate.value, most)))


def geometric(estimate: Estimate) -> Estimate:
    """The estimate of a geometric mean, from the estimate of a mean of logarithms."""
    return Estimate(np.exp(estimate.value), np.exp(estimate.low), np.exp(estimate.high))
