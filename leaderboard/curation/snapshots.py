"""A board's snapshot: every figure of every row, as canonical JSON. Equal boards give equal bytes."""

import json
from typing import Any

from leaderboard import blobs
from leaderboard.boards.table import ROW_FIELDS
from leaderboard.models import BoardSnapshot, Decision, ReleaseTrack, Standing
from leaderboard.models.entrants.entrant import EntrantKind

_INTERNAL = {"pk", "entrant_id"}


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
        "rows": [_record(row) for row in rows.order_by("rank", "entrant__slug").values(*ROW_FIELDS)],
    }
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str).encode()


def _record(row: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("__", "_"): value for name, value in row.items() if name not in _INTERNAL}
