"""The scores, intervals and ranks of every entrant of one board: a pure function of its counts."""

from dataclasses import dataclass

import numpy as np

from scoring.arrays import BoolArray, FloatArray, IntArray
from scoring.board_input import BoardInput
from scoring.fast_p import fast_p
from scoring.metrics import (
    CODING,
    GFLOPS,
    QUESTIONS,
    ROOFLINE,
    SOL_SCORE,
    SPEEDUP,
    WEIGHTED,
    Average,
    Need,
    metric_named,
    pass_at,
)
from scoring.pass_at_k import most_trials, pass_at_k
from scoring.rules import RULES, Measured
from scoring.uncertainty import Estimate, geometric


@dataclass(frozen=True)
class BoardScores:
    """One value per entrant (E), in the given order. NaN means that there is no value."""

    primary: Estimate
    """The metric by which entrants are ranked."""
    pass_at: dict[int, Estimate]
    """Estimates by k; NaN if any counted problem has fewer than k samples."""
    solved: IntArray
    """Counted problems with at least one pass."""
    problems: IntArray
    """Counted problems: not voided, not skipped, and without a pending sample."""
    samples: IntArray
    """Samples on problems that are not voided."""
    speedup: Estimate
    """Geometric mean. A sample that fails, is slower, or whose time may not rank counts as 1."""
    speedup_problems: IntArray
    """Counted problems with a rankable baseline."""
    correct_speedup: FloatArray
    """Geometric mean over problems of the geometric mean over the passed and timed samples only."""
    correct_problems: IntArray
    """The number of those problems."""
    correct_median_speedup: FloatArray
    """Median over problems of the same mean."""
    held_out_speedup: FloatArray
    """The same mean over the held-out cases alone, of problems that have such cases."""
    public_speedup: FloatArray
    """The same figure over these problems' other cases and the same samples."""
    held_out_problems: IntArray
    """The number of those problems."""
    fast_p: FloatArray
    """E × T, over the same problems as the speedup."""
    coding: Estimate | None
    """Mean of pass@1 over coding problems; None if the board does not tell them from questions."""
    weighted: Estimate | None
    """Weighted mean of pass@1 over coding problems; None if the release has no weights."""
    questions: Estimate | None
    """Mean of pass@1 over questions; None if the release has none."""
    gflops: Estimate | None
    """Geometric mean over `gflops_problems`; None if the release declares no work."""
    gflops_problems: IntArray
    """The number of problems over which the rules average it."""
    gflops_own: IntArray
    """Those of them on which the entrant has GFLOPS of its own; on the others the baseline's count."""
    roofline: Estimate | None
    """Mean share of the roofline, 0 to 1, over the counted problems that declare work."""
    roofline_problems: IntArray
    """The number of those problems."""
    sol_score: Estimate | None
    """Mean over the counted problems that have one; None if no problem's work has a bound."""
    sol_score_problems: IntArray
    """The number of those problems."""
    sol_score_left_out: IntArray
    """Counted problems left out because their baseline is already at the bound."""
    incomplete: BoolArray
    """Whether a sample is unresolved, or a time is undecided and the primary metric uses time. Shown but not ranked."""
    rank: IntArray
    """Rank by the primary metric. Ties share a rank. 0 means not ranked."""
    rank_low: IntArray
    """The best rank that paired differences allow; 0 if not ranked, or over too few problems."""
    rank_high: IntArray
    """The worst rank that they allow."""


class MetricMissing(ValueError):
    """The board's primary metric cannot be computed from what the board has."""


def score_board(board: BoardInput) -> BoardScores:
    """Score and rank the entrants.

    Raises UnknownMetric if no metric has the primary metric's name, and MetricMissing if the board lacks its inputs.
    """
    counted = ~board.voided & ~board.skipped & (board.pending == 0)
    unresolved = incomplete(board)
    metrics = _metrics(board, counted, unresolved)
    if board.primary not in metrics:
        have = ", ".join(sorted(metrics))
        raise MetricMissing(f"primary metric {board.primary!r} is not on this board; it has {have}")
    timed = counted & board.has_rankable_baseline
    curve = fast_p(board.fast_counts, board.n, timed)
    shared = {name: _shared_sd(board, name, curve) for name in metrics}
    _, rated = _rates(board, counted, unresolved)
    estimates = {name: _estimate(board, name, found, counted, shared[name]) for name, found in metrics.items()}
    ranks = metrics[board.primary].ranks(board.rankable & ~unresolved, board.tie_tolerance, shared[board.primary])
    correct, median, correct_problems = _correct_only(board, timed)
    held_out, _, held_out_problems = _of_samples(board.held_out_ln_sum, board.held_out_count, timed)
    return BoardScores(
        primary=estimates[board.primary],
        pass_at={k: estimates[pass_at(k).name] for k in board.ks},
        solved=(counted & (board.passed > 0)).sum(axis=1),
        problems=counted.sum(axis=1),
        samples=np.where(board.voided, 0, board.n).sum(axis=1),
        speedup=estimates[SPEEDUP.name],
        speedup_problems=timed.sum(axis=1),
        correct_speedup=correct,
        correct_problems=correct_problems,
        correct_median_speedup=median,
        held_out_speedup=held_out,
        public_speedup=_of_samples(board.public_ln_sum, board.held_out_count, timed)[0],
        held_out_problems=held_out_problems,
        fast_p=curve,
        coding=estimates.get(CODING.name),
        weighted=estimates.get(WEIGHTED.name),
        questions=estimates.get(QUESTIONS.name),
        gflops=estimates.get(GFLOPS.name),
        gflops_problems=rated.sum(axis=1),
        gflops_own=(rated & np.isfinite(_own_gflops(board))).sum(axis=1),
        roofline=estimates.get(ROOFLINE.name),
        roofline_problems=_with_figures(board.roofline, counted).sum(axis=1),
        sol_score=estimates.get(SOL_SCORE.name),
        sol_score_problems=_with_figures(board.sol_score, counted).sum(axis=1),
        sol_score_left_out=(counted & (False if board.at_bound is None else board.at_bound)).sum(axis=1),
        incomplete=unresolved,
        rank=ranks.rank,
        rank_low=ranks.low,
        rank_high=ranks.high,
    )


def _is_geometric(name: str) -> bool:
    return metric_named(name).average is Average.GEOMETRIC


def _shared_sd(board: BoardInput, name: str, curve: FloatArray) -> FloatArray:
    """E: noise in the metric's logarithm that all problems share. It moves what is faster than the baseline only."""
    if not _is_geometric(name):
        return np.zeros(len(curve))
    if name != SPEEDUP.name or 1.0 not in board.thresholds:
        return np.full(len(curve), board.shared_ln_sd)
    return np.asarray(board.shared_ln_sd * np.nan_to_num(curve[:, board.thresholds.index(1.0)]))


def _estimate(board: BoardInput, name: str, measured: Measured, counted: BoolArray, shared: FloatArray) -> Estimate:
    """The metric's value and interval on the scale on which it is shown."""
    if _is_geometric(name):
        return geometric(measured.of_logs(0.0 if name == SPEEDUP.name else -np.inf, shared))
    metric = metric_named(name)
    if metric.average is Average.ARITHMETIC:
        return measured.of_shares(None)
    samples = _quotient(np.where(counted, board.n, 0).sum(axis=1), counted.sum(axis=1))
    return measured.of_shares(most_trials(samples, metric.k or 1))


def incomplete(board: BoardInput) -> BoolArray:
    """The entrants (E) with a sample that is unresolved for the primary metric, on a problem that could count."""
    waiting = board.pending > 0
    if board.time_pending is not None and Need.TIMES in metric_named(board.primary).needs:
        waiting |= (board.time_pending > 0) & board.has_rankable_baseline
    return np.asarray(np.any(waiting & ~board.voided & ~board.skipped, axis=1))


def _metrics(board: BoardInput, counted: BoolArray, unresolved: BoolArray) -> dict[str, Measured]:
    """Every metric that can rank this board, on the scale on which it is averaged (logarithms for ratios)."""
    metrics = {pass_at(k).name: _mean(board, pass_at_k(board.n, board.passed, k), counted) for k in board.ks}
    metrics[SPEEDUP.name] = _mean(
        board, _quotient(board.ln_speedup_sum, board.n), counted & board.has_rankable_baseline
    )
    metrics |= _by_kind(board, counted)
    if board.gflops is not None:
        rates, rated = _rates(board, counted, unresolved)
        metrics[GFLOPS.name] = _mean(board, np.log(rates), rated)
    if board.roofline is not None:
        metrics[ROOFLINE.name] = _mean(board, board.roofline, _with_figures(board.roofline, counted))
    if board.sol_score is not None:
        metrics[SOL_SCORE.name] = _mean(board, board.sol_score, _with_figures(board.sol_score, counted))
    return metrics


def _by_kind(board: BoardInput, counted: BoolArray) -> dict[str, Measured]:
    """The means of pass@1 over coding problems, raw and weighted, and over questions."""
    first = pass_at_k(board.n, board.passed, 1)
    metrics = {}
    if board.questions is not None:
        metrics[CODING.name] = _mean(board, first, counted & ~board.questions)
    if board.questions is not None and board.questions.any():
        metrics[QUESTIONS.name] = _mean(board, first, counted & board.questions)
    if board.weights is not None:
        metrics[WEIGHTED.name] = _mean(board, first, np.where(counted, board.weights, 0.0))
    return metrics


def _with_figures(figures: FloatArray | None, counted: BoolArray) -> BoolArray:
    """E × P: the counted problems over which shares of the roofline, or scores, are averaged."""
    if figures is None:
        return np.zeros_like(counted)
    return counted & np.isfinite(figures)


def _mean(board: BoardInput, values: FloatArray, weights: FloatArray | BoolArray) -> Measured:
    return RULES[board.rules].measure(values, weights.astype(np.float64), board.release_digest, board.draws)


def _quotient(total: FloatArray, count: IntArray) -> FloatArray:
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _positive(figures: FloatArray) -> FloatArray:
    return np.where(figures > 0, figures, np.nan)


def _rates(board: BoardInput, counted: BoolArray, unresolved: BoolArray) -> tuple[FloatArray, BoolArray]:
    """E × P: the GFLOPS that count, and whether the problem is one over which they are averaged."""
    baseline = np.full(board.voided.shape, np.nan) if board.baseline_gflops is None else board.baseline_gflops
    ranked = board.rankable & ~unresolved
    return RULES[board.rules].rates(_own_gflops(board), _positive(baseline), ranked, counted, board.voided)


def _own_gflops(board: BoardInput) -> FloatArray:
    return np.full(board.n.shape, np.nan) if board.gflops is None else _positive(board.gflops)


def _correct_only(board: BoardInput, timed: BoolArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Geometric mean, median and number (E) of the problems on which the entrant has a passed and timed sample."""
    return _of_samples(board.correct_ln_sum, board.correct_count, timed)


def _of_samples(
    ln_sum: FloatArray | None, count: IntArray | None, timed: BoolArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """The same of sums of logarithms over samples, and the number of samples, both E × P."""
    if ln_sum is None or count is None:
        return np.full(len(timed), np.nan), np.full(len(timed), np.nan), np.zeros(len(timed), dtype=np.int64)
    mean_ln = np.where(timed, _quotient(ln_sum, count), np.nan)
    known = np.isfinite(mean_ln).sum(axis=1)
    geometric_mean = np.exp(_quotient(np.where(np.isnan(mean_ln), 0.0, mean_ln).sum(axis=1), known))
    return geometric_mean, _median_of_known(np.exp(mean_ln), known), known


def _median_of_known(values: FloatArray, known: IntArray) -> FloatArray:
    if not values.size:
        return np.full(len(values), np.nan)
    ordered = np.sort(values, axis=1)  # NaN goes last; without known values, the first is NaN
    middles = np.stack([np.maximum(known - 1, 0) // 2, known // 2], axis=1)
    return np.asarray(np.take_along_axis(ordered, middles, axis=1).mean(axis=1))
