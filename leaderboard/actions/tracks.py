"""Offer a release on a track: decide which problems are skipped there, and why."""

from typing import Any

from django.db import transaction

from leaderboard.models import ProblemTrack, ReleaseTrack, Track
from leaderboard.models.audit import record
from problems.models import Release
from problems.spec.skips import track_skip


@transaction.atomic
def offer(user: Any, release: Release, track: Track) -> ReleaseTrack:
    """Idempotent; the skips follow from the track's hardware alone."""
    place, created = ReleaseTrack.objects.get_or_create(release=release, track=track)
    hardware = track.hardware
    rows = [
        ProblemTrack(problem=problem, track=track, skip_reason=track_skip(problem.spec, hardware)[:300])
        for problem in release.problems.select_related("release")
    ]
    ProblemTrack.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)
    if created:
        record(user, "offer", release, track=track.slug, skipped=sum(bool(row.skip_reason) for row in rows))
    return place
