"""A board's snapshot: every figure of every row, as canonical JSON. Equal boards give equal bytes."""

import json
from collections.abc import Iterable
from typing import Any

from leaderboard import blobs
from leaderboard.boards.table import ROW_FIELDS
from leaderboard.models import BoardSnapshot, Decision, ReleaseTrack, Standing
from leaderboard.models.boards.estimates import figure_of, part_of
from leaderboard.models.entrants.entrant import EntrantKind
from scoring.metrics import (
    CORRECT_SPEEDUP,
    FAST_1,
    GFLOPS,
    HELD_OUT_SPEEDUP,
    ROOFLINE,
    SHOWN,
    SOL_SCORE,
    SPEEDUP,
    pass_at,
)

_INTERNAL = {"pk", "entrant_id", "estimates"}


def take(place: ReleaseTrack) -> BoardSnapshot:
    """Store the board of a release on a track as it stands. One snapshot of each is kept."""
    content = as_json(place)
    sha256 = blobs.store().put(content)
    return BoardSnapshot.objects.create(
        release=place.release, track=place.track, sha256=sha256, size_bytes=len(content)
    )


def as_json(place: ReleaseTrack) -> bytes:
    """The release, its voided problems and its rows by rank, in UTF-8 with sorted keys."""
    release = place.release
    rows = Standing.objects.filter(release=release, track=place.track).exclude(entrant__kind=EntrantKind.SYSTEM)
    voided = Decision.objects.errata().filter(problem__release=release)
    content = {
        "release": release.slug,
        "revision": release.revision,
        "digest": release.digest,
        "primary_metric": release.primary_metric,
        "timing_policy": release.timing_policy,
        "track": place.track.slug,
        "ranked_at": place.ranked_at,
        "ranking_error": place.ranking_error,
        "voided": [
            {"task_id": task_id, "reason": reason}
            for task_id, reason in voided.order_by("problem__position").values_list("problem__task_id", "public_reason")
        ],
        "rows": [
            _record(row, release.offered_ks) for row in rows.order_by("rank", "entrant__slug").values(*ROW_FIELDS)
        ],
    }
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str).encode()


_PARTS = {
    "n_timed_problems": (SPEEDUP, "problems"),
    "n_correct_problems": (CORRECT_SPEEDUP, "problems"),
    "public_speedup": (HELD_OUT_SPEEDUP, "public"),
    "n_held_out_problems": (HELD_OUT_SPEEDUP, "problems"),
    "n_gflops_problems": (GFLOPS, "problems"),
    "n_gflops_own": (GFLOPS, "own"),
    "n_roofline_problems": (ROOFLINE, "problems"),
    "n_sol_score_problems": (SOL_SCORE, "problems"),
    "n_sol_score_left_out": (SOL_SCORE, "left_out"),
}
"""Parts of estimates that have names of their own, as earlier snapshots have them. Others are named as in exports."""
_NAMED_HERE = {metric for metric, _ in _PARTS.values()}


def _record(row: dict[str, Any], ks: Iterable[int]) -> dict[str, Any]:
    """The row as one flat record."""
    record = {name.replace("__", "_"): value for name, value in row.items() if name not in _INTERNAL}
    estimates = row["estimates"]
    record["pass_at_k"] = {str(k): figure_of(estimates, pass_at(k).name) for k in ks}
    record |= {name: part_of(estimates, metric.name, part) for name, (metric, part) in _PARTS.items()}
    for metric in SHOWN:
        if metric is not FAST_1:
            record[metric.name], low, high = figure_of(estimates, metric.name)
            record |= {} if metric.no_interval else {f"{metric.name}_low": low, f"{metric.name}_high": high}
        if metric not in _NAMED_HERE:
            record |= {name: part_of(estimates, metric.name, part) for name, part in metric.exported.items()}
    return record
