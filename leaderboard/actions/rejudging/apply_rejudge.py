"""Applies a rejudge: the shadow results become the live evaluations' current results, as a rerun's would have."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.flags.shown import appealed
from leaderboard.models import (
    AuditEntry,
    Evaluation,
    EvaluationState,
    Flag,
    ProblemTrack,
    Rejudge,
    RejudgeItem,
    RejudgeState,
    Result,
    Submission,
    VoidedResult,
)
from leaderboard.models.audit import record
from leaderboard.models.curation.rejudge import RejudgeOutcome
from leaderboard.rows.copied_results import copy_results
from leaderboard.rows.current import make_newest_current
from leaderboard.rows.measurements import note_baselines_of
from leaderboard.standings import scores
from runners.wire.protocol import Verdict

CHUNK = 500


@transaction.atomic
def apply(user: Any, rejudge: Rejudge, public_reason: str) -> Counter[str]:
    """Apply a ready rejudge once. Returns the number of evaluations by outcome.

    An evaluation is left as it is where its live result changed after the rejudge began, where the rejudge came to a
    platform error or was cancelled, where the rejudge's own result is void, and where a ruling on the live result is
    appealed. Raises NotAllowed, Refused or Conflict.
    """
    if not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser applies a rejudge.")
    if not public_reason.strip():
        raise Refused("reason_needed", "Give a public reason. It is shown beside every result that changes.")
    if rejudge.is_round:
        raise Conflict("is_round", "A round is not applied: its second measurements count beside the first results.")
    scores.hold_all(Submission.objects.filter(evaluations__rejudged__rejudge=rejudge))
    moved = Rejudge.objects.filter(pk=rejudge.pk, state=RejudgeState.READY)
    if not moved.update(
        state=RejudgeState.APPLIED, ended_by=user, ended_at=timezone.now(), public_reason=public_reason.strip()
    ):
        rejudge.refresh_from_db()
        raise Conflict("not_ready", f"Rejudge #{rejudge.pk} is {rejudge.state}. Only one that is ready can be applied.")
    rejudge.refresh_from_db()
    outcomes: Counter[str] = Counter()
    touched: set[tuple[int, int, int]] = set()
    for chunk in _chunks(rejudge):
        outcomes.update(_apply(user, rejudge, chunk, touched))
    scores.rescore_places(touched)
    record(user, "apply rejudge", rejudge, public_reason, **{str(name): n for name, n in outcomes.items()})
    return outcomes


def foreseen(rejudge: Rejudge) -> Counter[str]:
    """The number of evaluations by the outcome that applying the rejudge now would have."""
    outcomes: Counter[str] = Counter()
    for chunk in _chunks(rejudge):
        lives = Evaluation.objects.in_bulk([one.live_id for one in chunk])
        contested = appealed_results(one.before_id for one in chunk)
        outcomes.update(_outcome(one, lives[one.live_id], contested).value for one in chunk)
    return outcomes


def _chunks(rejudge: Rejudge) -> Iterable[Sequence[RejudgeItem]]:
    after = 0
    void = Exists(VoidedResult.objects.filter(result=OuterRef("after")))
    items = rejudge.items.annotate(is_void=void).select_related("after", "shadow").order_by("pk")
    while rows := list(items.filter(pk__gt=after)[:CHUNK]):
        yield rows
        after = rows[-1].pk


def _apply(
    user: Any, rejudge: Rejudge, items: Sequence[RejudgeItem], touched: set[tuple[int, int, int]]
) -> Counter[str]:
    lives = Evaluation.objects.select_for_update(no_key=True).filter(pk__in=[one.live_id for one in items])
    live_of = {one.pk: one for one in lives.order_by("pk")}
    contested = appealed_results(one.before_id for one in items)
    outcome_of = {one.pk: _outcome(one, live_of[one.live_id], contested) for one in items}
    taken = [one for one in items if outcome_of[one.pk] == RejudgeOutcome.APPLIED]
    pairs = [(one.after, live_of[one.live_id]) for one in taken if one.after is not None]
    copies = copy_results(pairs)
    _note_baselines(copies, [live for _, live in pairs])
    make_newest_current([live.pk for _, live in pairs])
    for version in {one.shadow.judge_version for one in taken}:
        ids = [one.live_id for one in taken if one.shadow.judge_version == version]
        Evaluation.objects.filter(pk__in=ids).update(done_at=timezone.now(), judge_version=version)
        older = Evaluation.objects.filter(pk__in=ids).exclude(second_result__evaluation__judge_version=version)
        older.filter(second_result__isnull=False).update(second_result=None)  # from another judge version
    for outcome in set(outcome_of.values()):
        ids = [pk for pk, found in outcome_of.items() if found == outcome]
        RejudgeItem.objects.filter(pk__in=ids).update(outcome=outcome, is_open=False)
    _audit(user, rejudge, [live for _, live in pairs])
    touched.update((live.submission_id, live.track_id, live.problem_id) for _, live in pairs)
    return Counter(outcome.value for outcome in outcome_of.values())


def appealed_results(result_ids: Iterable[int]) -> set[int]:
    """The results with an appealed flag: another current result would take the appeal's subject away.

    Nobody appeals while the caller holds the submissions.
    """
    return set(Flag.objects.filter(appealed(), result__in=list(result_ids)).values_list("result_id", flat=True))


def _outcome(item: RejudgeItem, live: Evaluation, contested: Set[int]) -> RejudgeOutcome:
    if item.after is None:
        return RejudgeOutcome.CANCELLED
    if item.after.verdict == Verdict.PLATFORM_ERROR:
        return RejudgeOutcome.PLATFORM_ERROR
    if getattr(item, "is_void", False):
        return RejudgeOutcome.VOIDED
    if live.state != EvaluationState.DONE or live.current_result_id != item.before_id:
        return RejudgeOutcome.CHANGED
    if item.before_id in contested:
        return RejudgeOutcome.APPEALED
    return RejudgeOutcome.APPLIED


def _note_baselines(copies: Sequence[Result], lives: Sequence[Evaluation]) -> None:
    """Note the baselines of problems that had none that ranks, as a rerun's result would have."""
    lacking = ProblemTrack.objects.filter(problem__in={one.problem_id for one in lives}, has_rankable_baseline=False)
    places = set(lacking.values_list("problem_id", "track_id"))
    first = {(one.problem_id, one.track_id): copy for copy, one in zip(copies, lives, strict=True)}
    for place, copy in first.items():
        if place in places:
            note_baselines_of(copy.pk, *place)


def _audit(user: Any, rejudge: Rejudge, lives: Sequence[Evaluation]) -> None:
    """One entry for each evaluation, which its page shows."""
    AuditEntry.objects.bulk_create(
        AuditEntry(
            actor=user,
            actor_name=user.get_username(),
            action="rejudge",
            target=f"evaluation {live}",
            reason=rejudge.public_reason,
            detail={"rejudge": rejudge.pk},
        )
        for live in lives
    )
