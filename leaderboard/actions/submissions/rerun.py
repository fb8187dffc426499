"""Rerun evaluations. The old result stays current until the new one is recorded."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.accounts.quotas import Use, take
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import Evaluation, EvaluationState, Submission, SubmissionState
from leaderboard.models.audit import record
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.models.submissions.submission import IMPORT
from leaderboard.signals import evaluations_queued
from leaderboard.standings import scores
from leaderboard.visibility import may_change
from runners.wire.protocol import Purpose

RERUN_PRIORITY = 5


@transaction.atomic
def rerun(user: Any, evaluations: Sequence[Evaluation], reason: str) -> int:
    """Queue finished evaluations again. Returns their number. Raises NotAllowed, Refused, TooMuch or Conflict."""
    if not reason.strip():
        raise Refused("reason_needed", "Say why: the reason is kept with the rerun and shown.")
    for submission in sorted({one.submission for one in evaluations}, key=lambda one: one.pk):
        _check(user, submission)
        scores.hold(submission.pk)
    moved = Evaluation.objects.filter(
        pk__in=[one.pk for one in evaluations if can_run_again(one)], state=EvaluationState.DONE
    )
    ids = list(moved.values_list("pk", flat=True))
    take(user, Use(len(ids)))
    moved.update(state=EvaluationState.QUEUED, queued_at=timezone.now(), done_at=None)
    if not ids:
        raise Conflict("nothing_to_rerun", "Only evaluations that a node has finished can be run again; none here has.")
    evaluations_queued.send(Evaluation, evaluation_ids=ids, priority=_priority(user, ids))
    for one in evaluations:
        if one.pk in set(ids):
            record(user, "rerun", one, reason)
    return len(ids)


def _check(user: Any, submission: Submission) -> None:
    if not may_change(user, submission):
        raise NotAllowed("not_your_submission", "Only its team or an organiser may rerun an evaluation.")
    if submission.state == SubmissionState.CANCELLED:
        raise Conflict("cancelled", f"Submission #{submission.pk} was cancelled; submit it again instead.")
    if reason := why_not_here(submission):
        raise Conflict("imported", reason)


NOT_HERE = Q(submission__submitted_through=IMPORT) & ~Q(submission__release__unverified_reason="")
"""Evaluations of whose submissions `why_not_here` gives a reason."""


def why_not_here(submission: Submission) -> str:
    """The reason why no evaluation of the submission can be run again on this site, or "". Results are imported where
    the hardware is missing: a release that is not verified here is then not judged here either."""
    if not submission.is_imported or not submission.release.unverified_reason:
        return ""
    return (
        f"The results of submission #{submission.pk} were imported and cannot be rerun here: no node of this site has"
        " verified the release. Import other results, or submit its solutions where a node judges them."
    )


def _priority(user: Any, ids: Sequence[int]) -> int:
    """An organiser's reruns and single ones go first; a team's rerun of much takes its turn as a submission does."""
    return RERUN_PRIORITY if getattr(user, "is_staff", False) or len(ids) == 1 else 0


def can_run_again(evaluation: Evaluation) -> bool:
    """The site's own results (invalid, skipped) would only come out the same. Shadow ones are rejudged instead."""
    result, is_live = evaluation.current_result, evaluation.purpose == Purpose.LIVE
    is_done = evaluation.state == EvaluationState.DONE
    return is_live and is_done and result is not None and result.origin != ResultOrigin.SITE
