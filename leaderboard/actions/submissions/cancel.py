"""Cancel a submission: withdraw queued evaluations, stop running ones, keep finished ones."""

from collections.abc import Sequence
from datetime import UTC
from typing import Any

from django.db import transaction
from django.utils import timezone

from leaderboard.accounts import quotas
from leaderboard.errors import Conflict, NotAllowed
from leaderboard.models import Evaluation, EvaluationState, Submission, SubmissionState
from leaderboard.models.audit import record
from leaderboard.models.submissions.evaluation import OPEN_STATES
from leaderboard.rows.shadows import note_cancelled
from leaderboard.signals import evaluations_cancelled
from leaderboard.standings import count, scores
from leaderboard.visibility import may_change


@transaction.atomic
def cancel(user: Any, submission: Submission, reason: str = "") -> int:
    """Cancel it. Returns the number of withdrawn evaluations. Raises NotAllowed, or Conflict if it has ended.

    The evaluations that no attempt began are taken off the use of the day on which it was sent.
    """
    if not may_change(user, submission):
        raise NotAllowed("not_your_submission", "Only its team or an organiser may cancel a submission.")
    return _cancel(user, submission, reason)


@transaction.atomic
def cancel_by_site(submission: Submission, reason: str) -> int:
    """The same by the site itself, of a submission of its own."""
    return _cancel(None, submission, reason)


def _cancel(user: Any, submission: Submission, reason: str) -> int:
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
    live = submission.evaluations.live().filter(state__in=OPEN_STATES)
    n_live = live.count()
    ids = list(Evaluation.objects.filter(submission=submission, state__in=OPEN_STATES).values_list("pk", flat=True))
    answers: Any = evaluations_cancelled.send(Submission, evaluation_ids=ids)  # jobs first, as a claim locks them
    _give_back(submission, ids, {pk for _, begun in answers for pk in begun or ()})
    Evaluation.objects.filter(submission=submission, state__in=OPEN_STATES).update(
        state=EvaluationState.CANCELLED, done_at=now
    )
    note_cancelled(submission)
    for track in submission.tracks.all():
        scores.rescore(submission, track)
    count.settle(submission, user)
    record(user, "cancel", submission, reason, withdrawn=n_live)
    return n_live


def _give_back(submission: Submission, ids: Sequence[int], begun: set[int]) -> None:
    """Gives back the quota of evaluations without a result. A rerun has one, and is no use of the submitter's."""
    first = Evaluation.objects.live().filter(submission=submission, state__in=OPEN_STATES, results=None)
    n_waiting = len(set(first.values_list("pk", flat=True)) & set(ids) - begun)
    quotas.give_back(submission.submitted_by, submission.created_at.astimezone(UTC).date(), n_waiting)
