"""Choose the submission that counts: an event of the entrant's team, for finished ones, until the release closes."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.intake.submission_rules import check_is_open
from leaderboard.models import Chosen, Counted, Decision, Submission, SubmissionState, Track
from leaderboard.models.audit import record
from leaderboard.models.curation.decision import DecisionKind
from leaderboard.standings import count


@transaction.atomic
def choose(user: Any, submission: Submission, tracks: Sequence[Track]) -> list[Track]:
    """Count it on these of its tracks from now on. Returns those on which that is new: choosing again changes nothing.

    Raises NotAllowed, Refused or Conflict.
    """
    count.hold(submission.entrant_id)
    submission.refresh_from_db()
    _check(user, submission)
    _check_tracks(submission, tracks)
    fresh = [track for track in _not_last(submission) if track in tracks]
    if fresh:
        count.choose(user, submission, fresh)
        count.settle(submission, user)
        record(user, "choose", submission, tracks=[track.slug for track in fresh])
    return fresh


def offered_tracks(user: Any, submission: Submission) -> list[Track]:
    """The tracks on which the user may choose it now, and on which it does not count yet."""
    try:
        _check(user, submission)
    except Refused:
        return []
    return _not_last(submission)


def _check(user: Any, submission: Submission) -> None:
    if not submission.entrant.has_submitter(user):
        raise NotAllowed("not_your_submission", "Only the entrant's team chooses the submission that counts.")
    check_is_open(submission.release)
    name = f"Submission #{submission.pk}"
    if not submission.is_full:
        raise Refused("not_full", f"{name} answers a part of the release. Only a full submission counts on the board.")
    if submission.release.has_sealed_questions and not submission.asks_to_count:
        raise Refused(
            "did_not_ask",
            f"{name} did not ask to count when it was sent, so its replies are not the first ones that count for sealed"
            " questions. Send its samples again, one of them changed if only in a comment, and ask to count.",
        )
    if submission.state != SubmissionState.DONE:
        state = "was cancelled" if submission.state == SubmissionState.CANCELLED else "is still in progress"
        raise Conflict("not_finished", f"{name} {state}. Only a finished submission can be chosen.")
    if Decision.objects.filter(submission=submission, kind=DecisionKind.SUBMISSION_RETRACTED).exists():
        raise Conflict("retracted", f"{name} was retracted by an organiser and cannot be chosen.")


def _check_tracks(submission: Submission, tracks: Sequence[Track]) -> None:
    sent_to = list(submission.tracks.all())
    known = ", ".join(one.slug for one in sent_to)
    if not tracks:
        raise Refused("no_track", f"Name at least one track of submission #{submission.pk}: {known}.")
    if missing := [one.slug for one in tracks if one not in sent_to]:
        raise Refused("not_on_track", f"Submission #{submission.pk} was not sent to {missing[0]}. It is on: {known}.")


def _not_last(submission: Submission) -> list[Track]:
    """Its tracks on which another one was chosen after it, or which it was never chosen for."""
    tracks = list(submission.tracks.all())
    others = Chosen.objects.live().filter(submission__entrant=submission.entrant_id, track__in=tracks)
    rows = others.filter(submission__release=submission.release_id).order_by("pk")
    last = dict(rows.values_list("track", "submission"))
    return [track for track in tracks if last.get(track.pk) != submission.pk]


def counts_on(submission: Submission) -> list[str]:
    """The slugs of the tracks on which it counts."""
    return sorted(Counted.objects.filter(submission=submission).values_list("track__slug", flat=True))
