"""Chooses the counted submission of an entrant, release and track: the latest full one that asks to be counted."""

from typing import Any

from django.contrib.auth.models import User

from leaderboard.models import Counted, Entrant, Submission, SubmissionState, Track
from leaderboard.models.audit import record
from leaderboard.standings import scores


def hold(entrant_id: int) -> None:
    """Lock the entrant until the transaction ends, so that simultaneous submissions see each other."""
    list(Entrant.objects.select_for_update(no_key=True).filter(pk=entrant_id).values_list("pk"))


def hold_account(user: Any) -> None:
    """Lock the account likewise; before the entrant."""
    if user is not None:
        list(User.objects.select_for_update(no_key=True).filter(pk=user.pk).values_list("pk"))


def settle(submission: Submission, actor: Any) -> None:
    """Choose again on each of the submission's tracks. Each change is logged with the submission that it replaced.

    The caller must lock the entrant (`hold`) before it changes the submission.
    """
    if not submission.is_full:
        return
    for track in submission.tracks.all():
        _settle_track(submission, track, actor)
        scores.touch(submission.release_id, track.pk)  # its row says from how many submissions it was taken


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
