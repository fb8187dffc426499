"""Records organisers' decisions: rulings on flags, errata of problems, retractions of submissions."""

from typing import Any

from django.db import transaction

from leaderboard.errors import NotAllowed, Refused
from leaderboard.models import Decision, Flag, ReleaseTrack, Submission
from leaderboard.models.audit import record
from leaderboard.models.decision import DecisionKind
from leaderboard.standings import count, scores
from problems.models import Problem


def _check(user: Any, public_reason: str) -> None:
    if not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser decides on flags, errata and retractions.")
    if not public_reason.strip():
        raise Refused("reason_needed", "A decision needs a public reason; it is shown beside what it changes.")


@transaction.atomic
def decide_flag(user: Any, flag: Flag, *, upheld: bool, public_reason: str) -> Decision:
    _check(user, public_reason)
    scores.hold(flag.result.evaluation.submission_id)
    kind = DecisionKind.FLAG_UPHELD if upheld else DecisionKind.FLAG_DISMISSED
    decision = Decision.objects.create(kind=kind, flag=flag, decided_by=user, public_reason=public_reason)
    evaluation = flag.result.evaluation
    record(user, kind, evaluation, public_reason, flag=flag.code)
    scores.rescore(evaluation.submission, evaluation.track, [evaluation.problem_id])
    return decision


@transaction.atomic
def void_problem(user: Any, problem: Problem, public_reason: str) -> Decision:
    """Remove a faulty problem from every denominator of its release at once."""
    _check(user, public_reason)
    decision = Decision.objects.create(
        kind=DecisionKind.PROBLEM_VOIDED, problem=problem, decided_by=user, public_reason=public_reason
    )
    record(user, "void", problem, public_reason)
    for place in ReleaseTrack.objects.filter(release=problem.release):
        scores.touch(place.release_id, place.track_id)
    return decision


@transaction.atomic
def retract(user: Any, submission: Submission, public_reason: str) -> Decision:
    """Remove a submission from the boards. Its results stay readable."""
    _check(user, public_reason)
    count.hold(submission.entrant_id)
    decision = Decision.objects.create(
        kind=DecisionKind.SUBMISSION_RETRACTED, submission=submission, decided_by=user, public_reason=public_reason
    )
    record(user, "retract", submission, public_reason)
    count.settle(submission, user)
    return decision
