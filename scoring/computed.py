"""The computation of each metric of a board, by its name: figures over the problems that count."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from scoring.arrays import BoolArray, FloatArray, IntArray
from scoring.board_input import BoardInput
from scoring.fast_p import fast_p
from scoring.median import median_interval
from scoring.metrics import (
    AUTHOR_SCORE,
    CODING,
    CORRECT_SPEEDUP,
    FAST_1,
    GFLOPS,
    HELD_OUT_SPEEDUP,
    MEDIAN_TIME,
    QUESTIONS,
    ROOFLINE,
    SOL_SCORE,
    SPEEDUP,
    TRAFFIC_SPEEDUP,
    WEIGHTED,
    WIN_RATE,
    Average,
    metric_named,
    pass_at,
)
from scoring.pass_at_k import most_trials, pass_at_k
from scoring.rules import RULES, Measured
from scoring.uncertainty import Estimate, geometric

_Parts = Mapping[str, IntArray | FloatArray]


@dataclass(frozen=True)
class Figure(Estimate):
    """A metric's value and interval of each entrant (E), on the scale on which it is shown."""

    parts: _Parts = field(default_factory=dict)
    """Its other parts (E): `problems` is the number over which it is taken."""
    measured: Measured | None = None
    """The means from which ranks by it follow; None if it cannot rank."""
    shared_sd: FloatArray | None = None
    """E: the standard deviation of the noise in its logarithm that all problems share; None: 0."""


@dataclass(frozen=True)
class BoardWork:
    """A board, and what several computations need of it."""

    board: BoardInput
    unresolved: BoolArray
    """E: the entrants that are incomplete."""

    @cached_property
    def counted(self) -> BoolArray:
        """E × P: problems that are not voided, not skipped, and without a pending sample."""
        board = self.board
        return np.asarray(~board.voided & ~board.skipped & (board.pending == 0))

    @cached_property
    def timed(self) -> BoolArray:
        """E × P: counted problems with a baseline time that may rank."""
        return self.counted & self.board.has_rankable_baseline

    @cached_property
    def first_pass(self) -> FloatArray:
        return pass_at_k(self.board.n, self.board.passed, 1)

    @cached_property
    def curve(self) -> FloatArray:
        """E × T: fast_p."""
        return fast_p(self.board.fast_counts, self.board.n, self.timed)

    def mean(self, values: FloatArray, weights: FloatArray | BoolArray) -> Measured:
        """The means over problems of E × P values, under the board's rules."""
        board = self.board
        return RULES[board.rules].measure(values, weights.astype(np.float64), board.release_digest, board.draws)

    def mean_of(self, scored: "Scored") -> Measured:
        return self.mean(scored.values, scored.weights)


@dataclass(frozen=True)
class Scored:
    """The values by problem of which a metric is the mean, on the scale on which the mean is taken: E × P."""

    values: FloatArray
    weights: FloatArray | BoolArray
    """0 where the problem does not count for the entrant."""

    def over(self, entrants: Sequence[int]) -> "Scored":
        """The same of some entrants, in the given order."""
        return Scored(self.values[entrants], self.weights[entrants])


Computation = Callable[[BoardWork], Figure | None]
"""None: the board lacks the metric's inputs."""


def figures_of(work: BoardWork) -> dict[str, Figure]:
    """Every figure of the board, by the name of its metric."""
    computations: dict[str, Computation] = {pass_at(k).name: partial(_pass_at, k=k) for k in work.board.ks}
    computations |= _COMPUTATIONS
    found = {name: compute(work) for name, compute in computations.items()}
    return {name: figure for name, figure in found.items() if figure is not None}


def _pass_at(work: BoardWork, k: int) -> Figure | None:
    return _of_passes(work, _passes(work, work.counted, k), k)


def scored_by(work: BoardWork, name: str) -> Scored | None:
    """The values by problem of a metric that can rank; None if the board lacks its inputs. Raises UnknownMetric."""
    metric = metric_named(name)
    return _passes(work, work.counted, metric.k) if metric.k else _SCORED[name](work)


def _passes(work: BoardWork, weights: BoolArray | FloatArray, k: int = 1) -> Scored:
    return Scored(work.first_pass if k == 1 else pass_at_k(work.board.n, work.board.passed, k), weights)


def _of_passes(work: BoardWork, scored: Scored | None, k: int = 1) -> Figure | None:
    """The mean of pass@k over the problems with a weight."""
    if scored is None:
        return None
    measured = work.mean_of(scored)
    samples = quotient(np.where(work.counted, work.board.n, 0).sum(axis=1), work.counted.sum(axis=1))
    return _figure(measured.of_shares(most_trials(samples, k)), {}, measured)


def _coding(work: BoardWork) -> Scored | None:
    questions = work.board.questions
    return None if questions is None else _passes(work, work.counted & ~questions)


def _weighted(work: BoardWork) -> Scored | None:
    weights = work.board.weights
    return None if weights is None else _passes(work, np.where(work.counted, weights, 0.0))


def _questions(work: BoardWork) -> Scored | None:
    questions = work.board.questions
    return None if questions is None or not questions.any() else _passes(work, work.counted & questions)


def _speedups(work: BoardWork) -> Scored:
    return Scored(quotient(work.board.ln_speedup_sum, work.board.n), work.timed)


def _traffic_speedups(work: BoardWork) -> Scored | None:
    sums = work.board.traffic_ln_sum
    return None if sums is None else Scored(quotient(sums, work.board.n), work.timed)


def _mean_speedup(work: BoardWork, scored: Scored | None) -> Figure | None:
    """Shared noise moves what is faster than the baseline only."""
    if scored is None:
        return None
    board = work.board
    share = work.curve[:, board.thresholds.index(1.0)] if 1.0 in board.thresholds else np.ones(len(work.curve))
    shared = np.asarray(board.shared_ln_sd * np.nan_to_num(share))
    measured = work.mean_of(scored)
    parts = {"problems": work.timed.sum(axis=1)}
    return _figure(geometric(measured.of_logs(0.0, shared)), parts, measured, shared)


def _rates(work: BoardWork) -> Scored | None:
    """ln GFLOPS."""
    board = work.board
    if board.gflops is None:
        return None
    baseline = np.full(board.voided.shape, np.nan) if board.baseline_gflops is None else board.baseline_gflops
    ranked = board.rankable & ~work.unresolved
    own = _positive(board.gflops)
    rates, rated = RULES[board.rules].rates(own, _positive(baseline), ranked, work.counted, board.voided)
    return Scored(np.log(rates), rated)


def _gflops(work: BoardWork) -> Figure | None:
    board, scored = work.board, _rates(work)
    if board.gflops is None or scored is None:
        return None
    rated = np.asarray(scored.weights, dtype=np.bool_)
    measured, shared = work.mean_of(scored), np.full(len(rated), board.shared_ln_sd)
    parts = {"problems": rated.sum(axis=1), "own": (rated & np.isfinite(_positive(board.gflops))).sum(axis=1)}
    return _figure(geometric(measured.of_logs(-np.inf, shared)), parts, measured, shared)


def _figures(work: BoardWork, name: str) -> Scored | None:
    """The board's figures of that name, over the counted problems that have one."""
    values = work.board.figures.get(name)
    return None if values is None else Scored(values, work.counted & np.isfinite(values))


def _of_figures(work: BoardWork, name: str) -> Figure | None:
    scored = _figures(work, name)
    if scored is None:
        return None
    measured = work.mean_of(scored)
    return _figure(measured.of_shares(None), {"problems": scored.weights.sum(axis=1)}, measured)


def _sol_score(work: BoardWork) -> Figure | None:
    found, at_bound = _of_figures(work, SOL_SCORE.name), work.board.at_bound
    if found is None:
        return None
    left_out = (work.counted & (False if at_bound is None else at_bound)).sum(axis=1)
    return replace(found, parts={**found.parts, "left_out": left_out})


def _correct_speedup(work: BoardWork) -> Figure:
    value, problems = _of_samples(work.board.correct_ln_sum, work.board.correct_count, work.timed)
    return _alone(value, problems=problems)


def _held_out_speedup(work: BoardWork) -> Figure | None:
    """Also the figure over the same samples' other cases."""
    board = work.board
    if board.held_out_ln_sum is None or board.public_ln_sum is None or board.held_out_count is None:
        return None
    value, problems = _of_samples(board.held_out_ln_sum, board.held_out_count, work.timed)
    public, _ = _of_samples(board.public_ln_sum, board.held_out_count, work.timed)
    return _alone(value, problems=problems, public=public)


def _fast_1(work: BoardWork) -> Figure | None:
    if 1.0 not in work.board.thresholds:
        return None
    return _alone(work.curve[:, work.board.thresholds.index(1.0)])


def _median_time(work: BoardWork) -> Figure | None:
    """The median over the counted problems with a time, and its interval from order statistics."""
    times = work.board.figures.get(MEDIAN_TIME.name)
    if times is None:
        return None
    known = [row[use] for row, use in zip(times, work.counted & np.isfinite(times), strict=True)]
    found = [median_interval(row) if row.size else (None, None, None) for row in known]
    value, low, high = np.array(found, dtype=np.float64).reshape(-1, 3).T
    return Figure(value, low, high, {"problems": np.array([row.size for row in known], dtype=np.int64)})


def _figure(found: Estimate, parts: _Parts, measured: Measured, shared: FloatArray | None = None) -> Figure:
    return Figure(found.value, found.low, found.high, parts, measured, shared)


def _of_attempted(work: BoardWork, name: str) -> Figure | None:
    """The plain mean of the board's figures of that name over the counted problems that have one, without interval."""
    values = work.board.figures.get(name)
    if values is None:
        return None
    used = work.counted & np.isfinite(values)
    n = used.sum(axis=1)
    return _alone(quotient(np.where(used, values, 0.0).sum(axis=1), n), problems=n)


def _alone(value: FloatArray, **parts: IntArray | FloatArray) -> Figure:
    """A figure without an interval."""
    none = np.full(len(value), np.nan)
    return Figure(value, none, none, parts)


def _of_samples(ln_sum: FloatArray, count: IntArray, timed: BoolArray) -> tuple[FloatArray, IntArray]:
    """Geometric mean over the problems with such samples, and the number of these problems, from sums over samples."""
    mean_ln = np.where(timed, quotient(ln_sum, count), np.nan)
    known = np.isfinite(mean_ln).sum(axis=1)
    return np.exp(quotient(np.where(np.isnan(mean_ln), 0.0, mean_ln).sum(axis=1), known)), known


def quotient(total: FloatArray | IntArray, count: IntArray | FloatArray) -> FloatArray:
    """NaN where nothing is counted."""
    return np.where(count > 0, total / np.where(count > 0, count, 1), np.nan)


def _positive(figures: FloatArray) -> FloatArray:
    return np.where(figures > 0, figures, np.nan)


_COMPUTATIONS: Mapping[str, Computation] = {
    CODING.name: lambda work: _of_passes(work, _coding(work)),
    WEIGHTED.name: lambda work: _of_passes(work, _weighted(work)),
    QUESTIONS.name: lambda work: _of_passes(work, _questions(work)),
    SPEEDUP.name: lambda work: _mean_speedup(work, _speedups(work)),
    TRAFFIC_SPEEDUP.name: lambda work: _mean_speedup(work, _traffic_speedups(work)),
    CORRECT_SPEEDUP.name: _correct_speedup,
    HELD_OUT_SPEEDUP.name: _held_out_speedup,
    FAST_1.name: _fast_1,
    ROOFLINE.name: partial(_of_figures, name=ROOFLINE.name),
    GFLOPS.name: _gflops,
    SOL_SCORE.name: _sol_score,
    MEDIAN_TIME.name: _median_time,
    AUTHOR_SCORE.name: partial(_of_attempted, name=AUTHOR_SCORE.name),
    WIN_RATE.name: partial(_of_attempted, name=WIN_RATE.name),
}
_SCORED: Mapping[str, Callable[[BoardWork], Scored | None]] = {
    CODING.name: _coding,
    WEIGHTED.name: _weighted,
    QUESTIONS.name: _questions,
    SPEEDUP.name: _speedups,
    TRAFFIC_SPEEDUP.name: _traffic_speedups,
    GFLOPS.name: _rates,
    ROOFLINE.name: partial(_figures, name=ROOFLINE.name),
    SOL_SCORE.name: partial(_figures, name=SOL_SCORE.name),
}
"""The metrics that can rank, without pass@k."""


def means_of_groups(work: BoardWork, name: str, groups: Sequence[str]) -> dict[str, FloatArray]:
    """The metric over each group's problems alone (E), as it is shown; NaN where none counts.

    `groups` has the group of each problem. Empty if the board lacks the metric's inputs.
    """
    scored = scored_by(work, name)
    if scored is None:
        return {}
    is_geometric, labels = metric_named(name).average is Average.GEOMETRIC, np.array(groups)
    weights = np.where(np.isfinite(scored.values), scored.weights, 0.0)
    product = np.where(weights > 0, scored.values * weights, 0.0)
    means = {
        group: quotient(product[:, labels == group].sum(axis=1), weights[:, labels == group].sum(axis=1))
        for group in dict.fromkeys(groups)
    }
    return {group: np.exp(mean) if is_geometric else mean for group, mean in means.items()}
