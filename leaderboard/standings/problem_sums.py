"""Sums of a track's counted submissions by problem, stored at each ranking: the problems table reads them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from leaderboard.models import ProblemTrack
from leaderboard.standings.board_arrays import BoardArrays

FIELDS = ("n_entrants", "n_solved", "n_samples", "n_passed", "best_speedup")


def store(board: BoardArrays) -> None:
    """Write the sums of problems whose sums changed."""
    fresh, stale = sums_of(board), _stale(board)
    for row in stale:
        for name, value in fresh[row.problem_id].items():
            setattr(row, name, value)
    ProblemTrack.objects.bulk_update(stale, FIELDS, batch_size=200)


def differing(board: BoardArrays) -> list[int]:
    """The ids of problems whose stored sums are not those of the board."""
    return [row.problem_id for row in _stale(board)]


def _stale(board: BoardArrays) -> list[ProblemTrack]:
    fresh = sums_of(board)
    rows = ProblemTrack.objects.filter(track_id=board.track_id, problem__in=fresh).only("problem_id", *FIELDS)
    return [row for row in rows if {name: getattr(row, name) for name in FIELDS} != fresh[row.problem_id]]


def sums_of(board: BoardArrays) -> dict[int, Mapping[str, Any]]:
    """The fields by problem id, over ranked entrants: baselines are left out, and who had every sample skipped."""
    given = board.input
    tried = (given.n > 0) & ~given.skipped & given.rankable[:, None]
    best = np.where(tried & np.isfinite(board.best_speedup), board.best_speedup, -np.inf).max(axis=0, initial=-np.inf)
    counts = {
        "n_entrants": tried.sum(axis=0),
        "n_solved": (tried & (given.passed > 0)).sum(axis=0),
        "n_samples": np.where(tried, given.n, 0).sum(axis=0),
        "n_passed": np.where(tried, given.passed, 0).sum(axis=0),
    }
    return {
        problem_id: {name: int(values[place]) for name, values in counts.items()}
        | {"best_speedup": float(best[place]) if np.isfinite(best[place]) else None}
        for place, problem_id in enumerate(board.problem_ids)
    }
