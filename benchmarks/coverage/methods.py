"""Ways to an interval of a mean over problems, that of the rules among them. Each takes all boards at once."""

from collections.abc import Callable

import numpy as np

from benchmarks.coverage.worlds import Boards
from scoring.arrays import FloatArray
from scoring.bootstrap import bootstrap_mean, percentile_interval, problem_draws, proportion_interval
from scoring.uncertainty import bounded, mean_interval, means, share_interval, student_t

DRAWS, CLOSE = 1000, 1e-9
Ends = tuple[FloatArray, FloatArray]
Method = Callable[[Boards, str], Ends]


def rules(boards: Boards, metric: str) -> Ends:
    """The intervals that boards show."""
    found = means(boards.values, np.ones_like(boards.values))
    if metric == "speedup":
        one = bounded(mean_interval(found, boards.shared_sd), 0.0)
    else:
        one = share_interval(found, np.full(len(found.value), boards.most_trials))
    return one.low, one.high


def percentile(boards: Boards, metric: str) -> Ends:
    """The first rules: the percentiles of a bootstrap over problems."""
    drawn = bootstrap_mean(boards.values, np.ones_like(boards.values), "coverage", DRAWS)
    one = percentile_interval(drawn, 0.0) if metric == "speedup" else proportion_interval(drawn)
    return one.low, one.high


def student(boards: Boards, _metric: str) -> Ends:
    """Student's t."""
    mean, error = _moments(boards.values)
    arm = student_t(np.array(boards.values.shape[1] - 1.0)) * error
    return mean - arm, mean + arm


def bootstrap_t(boards: Boards, _metric: str) -> Ends:
    """The bootstrap of Student's t (Efron 1981)."""
    mean, error = _moments(boards.values)
    drawn, errors = _drawn(boards.values)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.nan_to_num((drawn - mean[:, None]) / errors, nan=0.0, posinf=1e3, neginf=-1e3)
    low, high = np.quantile(ratios, [0.025, 0.975], axis=1)
    return mean - high * error, mean - low * error


def bca(boards: Boards, _metric: str) -> Ends:
    """The bias-corrected and accelerated bootstrap (Efron 1987)."""
    mean, _ = _moments(boards.values)
    drawn = np.sort(_drawn(boards.values)[0], axis=1)
    off = boards.values - mean[:, None]
    squares = np.maximum((off**2).sum(axis=1), 1e-300)
    speed = (off**3).sum(axis=1) / (6 * squares**1.5)
    below = ((drawn < mean[:, None]).sum(axis=1) + (drawn <= mean[:, None]).sum(axis=1)) / (2 * DRAWS)
    bias = _normal_quantile(np.clip(below, 1 / DRAWS, 1 - 1 / DRAWS))
    ends = []
    for z in (-1.96, 1.96):
        shifted = bias + (bias + z) / (1 - speed * (bias + z))
        place = np.clip((_normal_share(shifted) * DRAWS).astype(int), 0, DRAWS - 1)
        ends.append(np.take_along_axis(drawn, place[:, None], axis=1)[:, 0])
    return ends[0], ends[1]


def _with_fallback(method: Method) -> Method:
    """Where all problems are alike, a method without an answer has that of the rules."""

    def either(boards: Boards, metric: str) -> Ends:
        alike = np.ptp(boards.values, axis=1) < CLOSE
        low, high = (np.where(alike, *both) for both in zip(rules(boards, metric), method(boards, metric), strict=True))
        return low, high

    return either


METHODS: dict[str, Method] = {
    "rules": rules, "percentile": percentile, "t": _with_fallback(student),
    "bootstrap-t": _with_fallback(bootstrap_t), "BCa": _with_fallback(bca),
}  # fmt: skip


def _moments(values: FloatArray) -> Ends:
    return values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])


def _drawn(values: FloatArray) -> Ends:
    """Means and standard errors of the draws."""
    counts = problem_draws("coverage", DRAWS, values.shape[1]).T / values.shape[1]
    drawn = values @ counts
    return drawn, np.sqrt(np.maximum(values**2 @ counts - drawn**2, 0) / (values.shape[1] - 1))


_GRID = np.linspace(-6, 6, 24001)
_CUMULATED = np.cumsum(np.exp(-(_GRID**2) / 2))
_CUMULATED /= _CUMULATED[-1]


def _normal_share(z: FloatArray) -> FloatArray:
    return np.asarray(np.interp(z, _GRID, _CUMULATED))


def _normal_quantile(share: FloatArray) -> FloatArray:
    return np.asarray(np.interp(share, _CUMULATED, _GRID))
