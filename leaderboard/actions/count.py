"""Which full submission counts: per entrant, release and track the latest whose submitter asked for it."""

from typing import Any

from leaderboard.actions import scores
from leaderboard.models import Counted, Entrant, Submission, SubmissionState, Track
from leaderboard.models.audit import record


def hold(entrant_id: int) -> None:
    """Lock the entrant until the transaction ends: of two submissions at once each must see the other."""
    list(Entrant.objects.select_for_update(no_key=True).filter(pk=entrant_id).values_list("pk"))


def settle(submission: Submission, actor: Any) -> None:
    """Choose anew on each of the submission's tracks; every change is logged with the one it replaced.

    The caller holds the entrant (`hold`) since before it changed the submission.
    """
    if not submission.is_full:
        return
    for track in submission.tracks.all():
        _settle_track(submission, track, actor)


def _settle_track(submission: Submission, track: Track, actor: Any) -> None:
    latest = (
        Submission.objects.filter(
            entrant=submission.entrant, release=submission.release, tracks=track, is_full=True, asks_to_count=True
        )
        .exclude(state=SubmissionState.CANCELLED)
        .exclude(decisions__kind="submission_retracted")
        .order_by("-id")
        .first()
    )
    place = Counted.objects.filter(entrant=submission.entrant, release=submission.release, track=track)
    before = place.select_related("submission").first()
    if before and before.submission == latest:
        return
    place.delete()
    if latest:
        Counted.objects.create(entrant=latest.entrant, release=latest.release, track=track, submission=latest)
    if before or latest:
        replaced = before.submission_id if before else None
        record(actor, "count", latest or submission, track=track.slug, counted=latest and latest.pk, replaced=replaced)
        scores.touch(submission.release_id, track.pk)
