"""Makes the stored rows of standings from a board's scores."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leaderboard.models import Counted, Standing
from leaderboard.models.boards.estimates import kept
from problems.models import Release
from scoring.board import BoardScores
from scoring.board_input import BoardInput
from scoring.computed import BoardWork, Figure, means_of_groups
from scoring.metrics import PASS_AT_1, Metric, shown_metric

Array = np.ndarray[Any, Any]


def standing_rows(
    release: Release,
    track_id: int,
    counted: Sequence[Counted],
    groups: Sequence[str],
    board: BoardInput,
    found: BoardScores,
    shown: Mapping[str, Array],
) -> list[Standing]:
    """One row per counted submission, in the order of the submissions."""
    by_group = _by_group(groups, board, found)
    return [
        Standing(
            release=release,
            track_id=track_id,
            entrant_id=one.entrant_id,
            submission_id=one.submission_id,
            groups={name: figures[n] for name, figures in by_group.items()},
            **_ranks(n, found),
            **_incomplete(n, board, found),
            **_primary(n, board.primary, found),
            estimates=_estimates(n, found),
            fast_p=[_number(share) for share in found.fast_p[n]],
            n_solved=int(found.solved[n]),
            n_problems=int(found.problems[n]),
            n_samples=int(found.samples[n]),
            n_passed=_total(board.passed[n], board),
            **{name: _total(counts[n], board) for name, counts in shown.items()},
            n_skipped=int((board.skipped[n] & ~board.voided).sum()),
        )
        for n, one in enumerate(counted)
    ]


def _total(counts: Array, board: BoardInput) -> int:
    """Sum over the problems that are not voided."""
    return int(np.where(board.voided, 0, counts).sum())


def _number(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _ranks(n: int, found: BoardScores) -> dict[str, int | None]:
    if not found.rank[n]:
        return {"rank": None, "rank_low": None, "rank_high": None}
    ends = {"rank_low": found.rank_low[n], "rank_high": found.rank_high[n]}
    return {"rank": int(found.rank[n]), **{name: int(end) if end else None for name, end in ends.items()}}


def _incomplete(n: int, board: BoardInput, found: BoardScores) -> dict[str, Any]:
    if not found.incomplete[n]:
        return {"is_incomplete": False, "incomplete_reason": ""}
    undecided = int(np.sum(np.where(board.voided, 0, board.pending[n])))
    flagged = 0 if board.time_pending is None else int(np.sum(np.where(board.voided, 0, board.time_pending[n])))
    counts = ((undecided, "not yet decided"), (flagged, "with a flagged or noisy time"))
    words = [f"{count} sample{'s'[: count > 1]} {what}" for count, what in counts if count]
    return {"is_incomplete": True, "incomplete_reason": ", ".join(words)}


def _primary(n: int, name: str, found: BoardScores) -> dict[str, float | None]:
    estimate = _estimate(shown_metric(name), n, found.primary)
    return {f"primary_{part}": estimate[part] for part in ("value", "low", "high")}


def _estimates(n: int, found: BoardScores) -> dict[str, Any]:
    return kept({name: _estimate(shown_metric(name), n, figure) for name, figure in found.figures.items()})


def _estimate(metric: Metric, n: int, figure: Figure) -> dict[str, Any]:
    """The figure as it is stored. Without a value it has its counts alone."""
    value = _number(figure.value[n])
    low, high = (None, None) if metric.no_interval else (_number(figure.low[n]), _number(figure.high[n]))
    parts = {name: _part(values[n]) for name, values in figure.parts.items()}
    counts = {name: part for name, part in parts.items() if value is not None or isinstance(part, int)}
    return {"value": value, "low": low, "high": high, **counts}


def _part(value: Any) -> int | float | None:
    return int(value) if np.issubdtype(np.asarray(value).dtype, np.integer) else _number(value)


def _by_group(groups: Sequence[str], board: BoardInput, found: BoardScores) -> dict[str, list[dict[str, Any]]]:
    """Figures by group: one {solved, problems, pass_at_1} per entrant, with `primary` where that is another metric."""
    labels = np.array(groups)
    counted = ~board.voided & ~board.skipped & (board.pending == 0) & (board.n > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(board.n > 0, board.passed / np.maximum(board.n, 1), 0.0)
    figures = {name: _group_figures(labels == name, counted, share, board.passed) for name in dict.fromkeys(groups)}
    if board.primary != PASS_AT_1.name:
        means = means_of_groups(BoardWork(board, found.incomplete), board.primary, groups)
        for name, values in means.items():
            figures[name] = [
                {**one, "primary": _number(value)} for one, value in zip(figures[name], values, strict=True)
            ]
    return figures


def _group_figures(chosen: Array, counted: Array, share: Array, passed: Array) -> list[dict[str, Any]]:
    inside = counted[:, chosen]
    totals = inside.sum(axis=1)
    sums = (share[:, chosen] * inside).sum(axis=1)
    solved = ((passed[:, chosen] > 0) & inside).sum(axis=1)
    return [
        {"solved": int(s), "problems": int(t), "pass_at_1": float(p / t) if t else None}
        for s, t, p in zip(solved, totals, sums, strict=True)
    ]
