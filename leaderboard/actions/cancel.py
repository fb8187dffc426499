"""Cancel a submission: what is queued is withdrawn, what is running is told to stop, what is done stays."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from leaderboard.actions import count, scores
from leaderboard.actions.errors import Conflict, NotAllowed
from leaderboard.models import Evaluation, EvaluationState, Submission, SubmissionState
from leaderboard.models.audit import record
from leaderboard.signals import evaluations_cancelled

OPEN = (EvaluationState.QUEUED, EvaluationState.LEASED)


def may_change(user: Any, submission: Submission) -> bool:
    return bool(getattr(user, "is_staff", False)) or submission.entrant.has_member(user)


@transaction.atomic
def cancel(user: Any, submission: Submission, reason: str = "") -> int:
    """Returns how many evaluations were withdrawn. Raises NotAllowed, or Conflict when it has ended already."""
    if not may_change(user, submission):
        raise NotAllowed("not_your_submission", "Only its team or an organiser may cancel a submission.")
    count.hold(submission.entrant_id)
    scores.hold(submission.pk)
    now = timezone.now()
    moved = Submission.objects.filter(pk=submission.pk, state=SubmissionState.ACCEPTED).update(
        state=SubmissionState.CANCELLED, finished_at=now
    )
    if not moved:
        submission.refresh_from_db()
        raise Conflict("already_ended", f"Submission #{submission.pk} is {submission.state} already.")
    submission.refresh_from_db()
    ids = list(Evaluation.objects.filter(submission=submission, state__in=OPEN).values_list("pk", flat=True))
    evaluations_cancelled.send(Submission, evaluation_ids=ids)  # jobs first: a claim locks its job, then the evaluation
    Evaluation.objects.filter(submission=submission, state__in=OPEN).update(
        state=EvaluationState.CANCELLED, done_at=now
    )
    for track in submission.tracks.all():
        scores.rescore(submission, track)
    count.settle(submission, user)
    record(user, "cancel", submission, reason, withdrawn=len(ids))
    return len(ids)
