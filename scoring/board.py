"""The scores, intervals and ranks of every entrant of one board: a pure function of its counts."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scoring.arrays import BoolArray, FloatArray, IntArray
from scoring.board_input import BoardInput
from scoring.computed import BoardWork, Figure, figures_of
from scoring.metrics import Need, metric_named


@dataclass(frozen=True)
class BoardScores:
    """One value per entrant (E), in the given order."""

    figures: Mapping[str, Figure]
    """Name of a metric (`scoring.metrics`) → its figure, where the board has the inputs of it."""
    primary: Figure
    """The one by which entrants are ranked."""
    fast_p: FloatArray
    """E × T, over the same problems as the speedup."""
    solved: IntArray
    """Counted problems with at least one pass."""
    problems: IntArray
    """Counted problems: not voided, not skipped, and without a pending sample."""
    samples: IntArray
    """Samples on problems that are not voided."""
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
    work = BoardWork(board, incomplete(board))
    figures = figures_of(work)
    primary = figures.get(board.primary)
    if primary is None or primary.measured is None:
        have = ", ".join(sorted(name for name, figure in figures.items() if figure.measured))
        raise MetricMissing(f"primary metric {board.primary!r} is not on this board; it has {have}")
    shared_sd = np.zeros(len(board.n)) if primary.shared_sd is None else primary.shared_sd
    ranks = primary.measured.ranks(board.rankable & ~work.unresolved, board.tie_tolerance, shared_sd)
    return BoardScores(
        figures=figures,
        primary=primary,
        fast_p=work.curve,
        solved=(work.counted & (board.passed > 0)).sum(axis=1),
        problems=work.counted.sum(axis=1),
        samples=np.where(board.voided, 0, board.n).sum(axis=1),
        incomplete=work.unresolved,
        rank=ranks.rank,
        rank_low=ranks.low,
        rank_high=ranks.high,
    )


def incomplete(board: BoardInput) -> BoolArray:
    """The entrants (E) with a sample that is unresolved for the primary metric, on a problem that could count."""
    waiting = board.pending > 0
    if board.time_pending is not None and Need.TIMES in metric_named(board.primary).needs:
        waiting |= (board.time_pending > 0) & board.has_rankable_baseline
    return np.asarray(np.any(waiting & ~board.voided & ~board.skipped, axis=1))
