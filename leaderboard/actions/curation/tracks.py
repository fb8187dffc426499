"""Offers a release on a track, with its skipped problems and the reasons, and stores a track's measured peaks."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from leaderboard.errors import Refused
from leaderboard.models import ProblemTrack, ReleaseTrack, Track
from leaderboard.models.audit import record
from leaderboard.models.boards.track import NO_HARDWARE
from leaderboard.standings import rankable
from problems.models import Problem, Release
from problems.spec.hardware import Hardware
from problems.spec.kinds import NODE_KINDS


@transaction.atomic
def offer(user: Any, release: Release, track: Track) -> ReleaseTrack:
    """Offer the release on the track. Idempotent. The skips depend on the track's hardware only.

    Raises Refused if the release is published and cannot be ranked by its primary metric on this track.
    """
    place, created = ReleaseTrack.objects.get_or_create(release=release, track=track)
    hardware = track.hardware
    rows = [
        ProblemTrack(problem=problem, track=track, skip_reason=_why_skipped(problem, track, hardware)[:300])
        for problem in release.problems.select_related("release")
    ]
    ProblemTrack.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)
    if created and not release.is_draft and (faults := rankable.faults_on(release, track)):
        raise Refused("cannot_be_ranked", " ".join(faults))
    if created:
        record(user, "offer", release, track=track.slug, skipped=sum(bool(row.skip_reason) for row in rows))
    return place


def _why_skipped(problem: Problem, track: Track, hardware: Hardware) -> str:
    if track.slug == NO_HARDWARE and problem.kind in NODE_KINDS:
        return "needs a node and this is a track without hardware"
    return problem.spec.why_skipped(hardware)


def no_hardware() -> Track:
    """The built-in track for problems that the site settles itself."""
    fields = {"title": "No hardware", "device": "none"}
    return Track.objects.get_or_create(slug=NO_HARDWARE, defaults=fields)[0]


def note_peaks(user: Any, track: Track, peaks: Mapping[str, Any]) -> bool:
    """Store peaks of the track's hardware if it has none. Returns whether they were stored.

    The track's boards are ranked again, because shares of the roofline depend on the peaks.
    """
    if track.peaks or not (peaks.get("gbps") or peaks.get("gflops")):
        return False
    track.peaks = dict(peaks)
    track.save(update_fields=["peaks"])
    ReleaseTrack.objects.filter(track=track).exclude(touched_at=None).update(touched_at=timezone.now())
    record(user, "note peaks", track, peaks=track.peaks)
    return True
