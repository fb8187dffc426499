"""Offer a release on a track: decide which problems are skipped there, and why; and note a track's measured peaks."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

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


def note_peaks(user: Any, track: Track, peaks: Mapping[str, Any]) -> bool:
    """Store the first ceilings that were measured on the track's hardware; whether these were the first.

    The track's boards are ranked anew: shares of the roofline rest on them.
    """
    if track.peaks or not (peaks.get("gbps") or peaks.get("gflops")):
        return False
    track.peaks = dict(peaks)
    track.save(update_fields=["peaks"])
    ReleaseTrack.objects.filter(track=track).exclude(touched_at=None).update(touched_at=timezone.now())
    record(user, "note peaks", track, peaks=track.peaks)
    return True
