"""Makes the stored rows of standings from a board's scores."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leaderboard.models import Counted, Standing
from problems.models import Release
from scoring.board import BoardScores
from scoring.board_input import BoardInput
from scoring.uncertainty import Estimate

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
    by_group = _by_group(groups, board)
    return [
        Standing(
            release=release,
            track_id=track_id,
            entrant_id=one.entrant_id,
            submission_id=one.submission_id,
            groups={name: figures[n] for name, figures in by_group.items()},
            **_ranks(n, found),
            **_incomplete(n, board, found),
            **_pass_figures(n, found),
            **_of_kinds(n, found),
            **_time_figures(n, found),
            n_samples=int(found.samples[n]),
            n_passed=_total(board.passed[n], board),
            **{name: _total(counts[n], board) for name, counts in shown.items()},
            n_skipped=int((board.skipped[n] & ~board.voided).sum()),
            primary_value=_number(found.primary.value[n]),
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


def _pass_figures(n: int, found: BoardScores) -> dict[str, Any]:
    table = {
        str(k): [_number(estimate.value[n]), _number(estimate.low[n]), _number(estimate.high[n])]
        for k, estimate in found.pass_at.items()
    }
    first = table.get("1", [None, None, None])
    return {
        "pass_at_k": table,
        "pass_at_1": first[0],
        "pass_at_1_low": first[1],
        "pass_at_1_high": first[2],
        "n_solved": int(found.solved[n]),
        "n_problems": int(found.problems[n]),
    }


def _time_figures(n: int, found: BoardScores) -> dict[str, Any]:
    timed = int(found.speedup_problems[n])
    return {
        "n_timed_problems": timed,
        "speedup": _number(found.speedup.value[n]) if timed else None,
        "speedup_low": _number(found.speedup.low[n]) if timed else None,
        "speedup_high": _number(found.speedup.high[n]) if timed else None,
        "correct_speedup": _number(found.correct_speedup[n]),
        "n_correct_problems": int(found.correct_problems[n]),
        "held_out_speedup": _number(found.held_out_speedup[n]),
        "public_speedup": _number(found.public_speedup[n]),
        "n_held_out_problems": int(found.held_out_problems[n]),
        "fast_p": [_number(share) for share in found.fast_p[n]],
        "gflops": _number(found.gflops.value[n]) if found.gflops is not None else None,
        "n_gflops_problems": int(found.gflops_problems[n]),
        "n_gflops_own": int(found.gflops_own[n]),
        **_roofline(n, found),
        **_sol_score(n, found),
    }


def _roofline(n: int, found: BoardScores) -> dict[str, float | int | None]:
    problems = 0 if found.roofline is None else int(found.roofline_problems[n])
    return {**_estimate("roofline", n, found.roofline), "n_roofline_problems": problems}


def _sol_score(n: int, found: BoardScores) -> dict[str, float | int | None]:
    problems, left_out = int(found.sol_score_problems[n]), int(found.sol_score_left_out[n])
    counts = {"n_sol_score_problems": problems, "n_sol_score_left_out": left_out}
    return {**_estimate("sol_score", n, found.sol_score), **counts}


def _of_kinds(n: int, found: BoardScores) -> dict[str, float | None]:
    estimates = {"coding": found.coding, "weighted": found.weighted, "questions": found.questions}
    return {field: value for name, one in estimates.items() for field, value in _estimate(name, n, one).items()}


def _estimate(name: str, n: int, found: Estimate | None) -> dict[str, float | None]:
    """A figure and the ends of its interval, by field of Standing."""
    if found is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    return {
        name: _number(found.value[n]),
        f"{name}_low": _number(found.low[n]),
        f"{name}_high": _number(found.high[n]),
    }


def _by_group(groups: Sequence[str], board: BoardInput) -> dict[str, list[dict[str, Any]]]:
    """Figures by group: one {solved, problems, pass_at_1} per entrant."""
    labels = np.array(groups)
    counted = ~board.voided & ~board.skipped & (board.pending == 0) & (board.n > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(board.n > 0, board.passed / np.maximum(board.n, 1), 0.0)
    return {name: _group_figures(labels == name, counted, share, board.passed) for name in dict.fromkeys(groups)}


def _group_figures(chosen: Array, counted: Array, share: Array, passed: Array) -> list[dict[str, Any]]:
    inside = counted[:, chosen]
    totals = inside.sum(axis=1)
    sums = (share[:, chosen] * inside).sum(axis=1)
    solved = ((passed[:, chosen] > 0) & inside).sum(axis=1)
    return [
        {"solved": int(s), "problems": int(t), "pass_at_1": float(p / t) if t else None}
        for s, t, p in zip(solved, totals, sums, strict=True)
    ]
