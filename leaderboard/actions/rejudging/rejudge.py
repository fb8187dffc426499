"""Rejudge in shadow: judge chosen live evaluations again without changing anything, then apply or drop the outcome."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import (
    Counted,
    Evaluation,
    EvaluationState,
    Rejudge,
    RejudgeItem,
    RejudgeState,
    Submission,
    Track,
)
from leaderboard.models.audit import record
from leaderboard.models.curation.rejudge import OPEN_REJUDGES
from leaderboard.models.entrants.entrant import REFERENCE
from leaderboard.models.submissions.evaluation import OPEN_STATES, EvaluationQuerySet, ResultOrigin
from leaderboard.signals import evaluations_cancelled, evaluations_queued
from leaderboard.standings import scores
from problems.models import Problem, Release
from problems.spec.kinds import NODE_KINDS, Kind
from runners.wire.protocol import JUDGE_VERSIONS, Purpose

MAX_EVALUATIONS = 10_000
"""Limit of one rejudge, which is made and applied in one transaction each."""
REJUDGE_PRIORITY = -10
"""Behind all live work."""
CHUNK = 500


@dataclass(frozen=True)
class RejudgeScope:
    """The live evaluations to judge again: all conditions that are given hold together."""

    release: Release | None = None
    track: Track | None = None
    problems: Sequence[Problem] = field(default=())
    node: str = ""
    counted_only: bool = False
    references_only: bool = False

    @property
    def key(self) -> str:
        ids = [self.release and self.release.pk, self.track and self.track.pk, sorted(one.pk for one in self.problems)]
        text = json.dumps([*ids, self.node, self.counted_only, self.references_only])
        return hashlib.sha256(text.encode()).hexdigest()


def chosen(scope: RejudgeScope) -> EvaluationQuerySet:
    """The finished live evaluations of the scope that a node can judge again. The site's own results are left out."""
    rows = Evaluation.objects.live().filter(
        state=EvaluationState.DONE, current_result__isnull=False, problem__kind__in=NODE_KINDS
    )
    rows = rows.exclude(current_result__origin=ResultOrigin.SITE)
    if scope.release is not None:
        rows = rows.filter(submission__release=scope.release)
    if scope.track is not None:
        rows = rows.filter(track=scope.track)
    if scope.problems:
        rows = rows.filter(problem__in=scope.problems)
    if scope.node:
        rows = rows.made_by(scope.node)
    if scope.counted_only:
        counted = Counted.objects.filter(submission=OuterRef("submission"), track=OuterRef("track"))
        rows = rows.filter(Exists(counted))
    if scope.references_only:
        rows = rows.filter(submission__entrant__slug=REFERENCE)
    return rows


def start(user: Any, scope: RejudgeScope, reason: str) -> Rejudge:
    """Make and queue a shadow evaluation of each chosen one. The same scope again returns its open rejudge.

    `user` None is the site itself. Raises NotAllowed, Refused (no reason, an unbounded or empty scope, too many), or
    Conflict if another rejudge of some of them was started at the same time.
    """
    _check(user)
    if not reason.strip():
        raise Refused("reason_needed", "Say why: the reason is kept with the rejudge.")
    if scope.release is None and not scope.node:
        raise Refused("scope_needed", "Name a release or a node: a rejudge needs at least one of them.")
    if found := Rejudge.objects.filter(scope=scope.key, state__in=OPEN_REJUDGES).first():
        return found
    try:
        return _start(user, scope, reason.strip())
    except IntegrityError as error:
        if found := Rejudge.objects.filter(scope=scope.key, state__in=OPEN_REJUDGES).first():
            return found
        raise Conflict(
            "started_at_once", "Another rejudge of some of these has just been started. Look at it, then try again."
        ) from error


def _check(user: Any) -> None:
    if user is not None and not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser rejudges.")


@transaction.atomic
def _start(user: Any, scope: RejudgeScope, reason: str) -> Rejudge:
    rows, n_left_out = _free(scope)
    rejudge = Rejudge.objects.create(
        release=scope.release,
        track=scope.track,
        node=scope.node,
        counted_only=scope.counted_only,
        is_verification=scope.references_only,
        scope=scope.key,
        reason=reason,
        n_evaluations=len(rows),
        n_left_out=n_left_out,
        started_at=timezone.now(),
        started_by=user if getattr(user, "is_authenticated", False) else None,
    )
    rejudge.problems.set(scope.problems)
    shadow_ids: list[int] = []
    for chunk in chunks(rows):
        shadow_ids += queue_shadows(rejudge, chunk)
    evaluations_queued.send(Rejudge, evaluation_ids=shadow_ids, priority=REJUDGE_PRIORITY)
    record(user, "rejudge", rejudge, reason, evaluations=len(rows), left_out=n_left_out)
    return rejudge


def _free(scope: RejudgeScope) -> tuple[list[Evaluation], int]:
    """The chosen evaluations that no other open rejudge holds, and the number of those that one does."""
    rows = chosen(scope)
    if (n := rows.count()) > MAX_EVALUATIONS:
        raise Refused(
            "too_many",
            f"The scope has {n:,} evaluations; one rejudge may have {MAX_EVALUATIONS:,}. Narrow it: by a track,"
            " by problems, or to counted submissions.",
        )
    held = RejudgeItem.objects.filter(live=OuterRef("pk"), is_open=True)
    free = list(rows.filter(~Exists(held)).select_related("problem").defer("problem__record").order_by("pk"))
    if not free:
        busy = f" {n:,} are part of another open rejudge." if n else ""
        raise Refused("nothing_to_rejudge", f"The scope has no finished evaluation of a node to judge again.{busy}")
    return free, n - len(free)


def chunks(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for begin in range(0, len(rows), CHUNK):
        yield rows[begin : begin + CHUNK]


def queue_shadows(rejudge: Rejudge, rows: Sequence[Evaluation]) -> list[int]:
    """Queue a shadow evaluation of each as an item of the rejudge. Returns their ids, for the signal to the fleet."""
    shadow_of = shadows_of(rows)
    RejudgeItem.objects.bulk_create(
        RejudgeItem(
            rejudge=rejudge,
            live=one,
            shadow_id=shadow_of[one.pk],
            before_id=one.current_result_id or 0,  # `chosen` has none without a result
            before_verdict=verdict,
        )
        for one, verdict in zip(rows, _verdicts(rows), strict=True)
    )
    return list(shadow_of.values())


def shadows_of(rows: Sequence[Evaluation]) -> dict[int, int]:
    """Shadow evaluations' ids by live ids, newly stored or those of an earlier rejudge. All become queued."""
    Evaluation.objects.bulk_create((_shadow_of(one) for one in rows), ignore_conflicts=True)
    stored = Evaluation.objects.filter(purpose=Purpose.SHADOW, sample__in=[one.sample_id for one in rows])
    known = {(one.sample_id, one.track_id, one.judge_version): one.pk for one in stored}
    found = {one.pk: known[_place(one)] for one in rows}
    Evaluation.objects.filter(pk__in=found.values()).update(
        state=EvaluationState.QUEUED, current_result=None, queued_at=timezone.now(), done_at=None
    )
    return found


def _verdicts(rows: Sequence[Evaluation]) -> list[str]:
    verdict_of = dict(
        Evaluation.objects.filter(pk__in=[one.pk for one in rows]).values_list("pk", "current_result__verdict")
    )
    return [verdict_of[one.pk] for one in rows]


def _place(live: Evaluation) -> tuple[int, int, str]:
    return live.sample_id, live.track_id, JUDGE_VERSIONS[Kind(live.problem.kind)]


def _shadow_of(live: Evaluation) -> Evaluation:
    sample_id, track_id, version = _place(live)
    return Evaluation(
        sample_id=sample_id,
        track_id=track_id,
        judge_version=version,
        purpose=Purpose.SHADOW,
        submission_id=live.submission_id,
        problem_id=live.problem_id,
    )


@transaction.atomic
def drop(user: Any, rejudge: Rejudge, reason: str = "") -> None:
    """End the rejudge without changing anything live. What still runs is cancelled. Raises NotAllowed or Conflict."""
    _check(user)
    if rejudge.is_round:
        raise Conflict("is_round", "A round is not dropped: pause it. Its second measurements stay.")
    shadows = hold_open_shadows(rejudge)
    if not Rejudge.objects.filter(pk=rejudge.pk, state__in=OPEN_REJUDGES).update(
        state=RejudgeState.DROPPED, ended_by=user, ended_at=timezone.now()
    ):
        rejudge.refresh_from_db()
        raise Conflict("already_ended", f"Rejudge #{rejudge.pk} is {rejudge.state} already.")
    n_cancelled = cancel_shadows(shadows)
    RejudgeItem.objects.filter(rejudge=rejudge).update(is_open=False)
    rejudge.refresh_from_db()
    record(user, "drop rejudge", rejudge, reason, cancelled=n_cancelled)


def hold_open_shadows(rejudge: Rejudge) -> EvaluationQuerySet:
    """The rejudge's queued and running shadow evaluations, with their submissions locked."""
    shadows = Evaluation.objects.filter(rejudge_items__rejudge=rejudge, rejudge_items__is_open=True)
    scores.hold_all(Submission.objects.filter(evaluations__in=shadows.filter(state__in=OPEN_STATES)))
    return shadows.filter(state__in=OPEN_STATES)


def cancel_shadows(shadows: EvaluationQuerySet) -> int:
    """Cancel them. Returns their number."""
    ids = list(shadows.values_list("pk", flat=True))
    evaluations_cancelled.send(Rejudge, evaluation_ids=ids)  # jobs first, as a claim locks them
    for chunk in chunks(ids):
        Evaluation.objects.filter(pk__in=chunk).update(state=EvaluationState.CANCELLED, done_at=timezone.now())
    return len(ids)
