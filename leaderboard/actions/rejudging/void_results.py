"""Voids the results of a node that is not trusted: they stop counting, and their evaluations are queued again.

A voiding is one row and many steps of one transaction each, so that a kill between two steps loses nothing.
"""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from leaderboard.errors import NotAllowed, Refused
from leaderboard.models import (
    AuditEntry,
    Evaluation,
    EvaluationState,
    Submission,
    SubmissionState,
    VoidedResult,
    Voiding,
)
from leaderboard.models.audit import record
from leaderboard.models.submissions.evaluation import EvaluationQuerySet
from leaderboard.rows.measurements import renew_baseline
from leaderboard.signals import evaluations_queued
from leaderboard.standings import scores
from problems.models import Problem
from runners.wire.protocol import Purpose

STEP = 500
PRIORITY = 0
"""Evaluations that lost their results take turns with submissions."""


@transaction.atomic
def start_voiding(
    user: Any, node: str, public_reason: str, since: datetime | None = None, until: datetime | None = None
) -> Voiding:
    """Begin to void the node's current results that were recorded in the period. `step` does the work.

    Raises NotAllowed or Refused.
    """
    if not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser voids results.")
    if not public_reason.strip():
        raise Refused("reason_needed", "Give a public reason. It is shown beside every result that is void.")
    now = timezone.now()
    until = min(until or now, now)
    if since is not None and since >= until:
        raise Refused("empty_period", "The period ends before it begins. Give an earlier beginning or a later end.")
    made = Voiding.objects.create(
        node=node, since=since, until=until, public_reason=public_reason.strip(), voided_by=user
    )
    period = {"since": since and since.isoformat(), "until": until.isoformat()}
    record(user, "void results", made, public_reason, **period)
    return made


def continue_voidings(max_steps: int | None = None) -> int:
    """Take the steps that remain of every voiding. Returns the number of results voided."""
    total = 0
    for voiding in Voiding.objects.filter(done_at=None).order_by("pk"):
        while (max_steps is None or max_steps > 0) and (n := step(voiding)):
            total += n
            max_steps = None if max_steps is None else max_steps - 1
    return total


@transaction.atomic
def step(voiding: Voiding) -> int:
    """Void up to STEP results. Returns their number; after the last ones it ends the voiding and returns 0."""
    found = dict(_remaining(voiding).order_by("pk").values_list("pk", "current_result")[:STEP])
    if not found:
        _finish(voiding)
        return 0
    scores.hold_all(Submission.objects.filter(evaluations__in=list(found)))
    held = Evaluation.objects.filter(pk__in=list(found)).select_related("submission").select_for_update(of=("self",))
    rows = [one for one in held.order_by("pk") if one.current_result_id == found[one.pk]]
    VoidedResult.objects.bulk_create(
        VoidedResult(voiding=voiding, result_id=one.current_result_id or 0) for one in rows
    )
    live = [one for one in rows if one.purpose == Purpose.LIVE]
    _queue_again(live)
    _audit(voiding, live)
    shadows = [one for one in rows if one.purpose == Purpose.SHADOW]
    seconds = Evaluation.objects.filter(second_result__in=[one.current_result_id for one in shadows])
    changed = [*live, *shadows] if seconds.update(second_result=None) else live
    scores.rescore_places({(one.submission_id, one.track_id, one.problem_id) for one in changed})
    Voiding.objects.filter(pk=voiding.pk).update(n_results=VoidedResult.objects.filter(voiding=voiding).count())
    return len(rows)


def _remaining(voiding: Voiding) -> EvaluationQuerySet:
    """Evaluations, live or shadow, whose current result is to be voided."""
    rows = Evaluation.objects.all().made_by(voiding.node)
    rows = rows.filter(current_result__created_at__lte=voiding.until, current_result__voided=None)
    return rows if voiding.since is None else rows.filter(current_result__created_at__gte=voiding.since)


def _queue_again(live: list[Evaluation]) -> None:
    """Finished ones are queued; those that are open already, or cancelled, only lose their result."""
    now = timezone.now()
    Evaluation.objects.filter(pk__in=[one.pk for one in live]).update(current_result=None)
    done = [one for one in live if one.state == EvaluationState.DONE]
    ended = [one.pk for one in done if one.submission.state == SubmissionState.CANCELLED]
    Evaluation.objects.filter(pk__in=ended).update(state=EvaluationState.CANCELLED)
    again = [one.pk for one in done if one.submission.state != SubmissionState.CANCELLED]
    Evaluation.objects.filter(pk__in=again).update(state=EvaluationState.QUEUED, queued_at=now, done_at=None)
    evaluations_queued.send(Voiding, evaluation_ids=again, priority=PRIORITY)


def _audit(voiding: Voiding, live: list[Evaluation]) -> None:
    """One entry for each evaluation, which its page shows."""
    user = voiding.voided_by
    AuditEntry.objects.bulk_create(
        AuditEntry(
            actor=user,
            actor_name=user.get_username() if user else "system",
            action="void result",
            target=f"evaluation {one}",
            reason=voiding.public_reason,
            detail={"voiding": voiding.pk, "node": voiding.node},
        )
        for one in live
    )


def _finish(voiding: Voiding) -> None:
    """Baselines that the node noted give way to those of results that still count."""
    if not Voiding.objects.filter(pk=voiding.pk, done_at=None).update(done_at=timezone.now()):
        return
    voided = VoidedResult.objects.filter(voiding=voiding, result__evaluation__purpose=Purpose.LIVE)
    places = set(voided.values_list("result__evaluation__problem", "result__evaluation__track"))
    release_of = dict(Problem.objects.filter(pk__in={one for one, _ in places}).values_list("pk", "release_id"))
    for problem_id, track_id in sorted(places):
        renew_baseline(problem_id, track_id)
    for release_id, track_id in sorted({(release_of[problem], track) for problem, track in places}):
        scores.touch(release_id, track_id)
