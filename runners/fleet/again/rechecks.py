"""Has a share of a joined node's evaluations judged again by another node, and compares: a joined node may lie.

The second judgement is a shadow evaluation. A verdict that differs, or a time that is far off, becomes a flag, which
waits for a person.
"""

import random

from django.db.models import Exists, OuterRef, Q

from leaderboard.actions.rejudging.rejudge import REJUDGE_PRIORITY, shadows_of
from leaderboard.models import Evaluation, Flag, RejudgeItem, Result
from leaderboard.models.curation.rejudge import Change
from leaderboard.models.submissions.evaluation import OPEN_STATES
from leaderboard.rows.shadows import NOT_JUDGED, compared
from leaderboard.signals import evaluations_queued
from runners.fleet.models import Attempt, Job, JobState, Node, NodeGrant, Recheck, Service
from runners.wire.protocol import FlagScope, Purpose, Stage

TIME_FACTOR = 1.25
"""A time that another node of the track finds to be off by more than this factor is flagged."""
CODE = "judged_otherwise"


def may_recheck(node: Node) -> Q:
    """The jobs of a queue that this node may run: it judges nothing again that it, or a node of its join token, judged
    before."""
    own = Q(apart_from=node)
    if node.joined_by_id is not None:
        own |= Q(apart_from__in=Node.objects.filter(joined_by=node.joined_by_id).values("pk"))
    return Q(apart_from=None) | ~own


def has_takers() -> Q:
    """The open jobs but those rechecks that no granted node may run: they wait for a node of another join token, or
    one that an organiser enrols, which may never come."""
    others = NodeGrant.objects.filter(track=OuterRef("track"), stage=OuterRef("stage"))
    others = others.exclude(node__service=Service.RETIRED).exclude(node=OuterRef("apart_from"))
    others = others.filter(Q(node__joined_by=None) | ~Q(node__joined_by=OuterRef("apart_from__joined_by")))
    return Q(apart_from=None) | Q(state=JobState.LEASED) | Q(stage=Stage.BUILD) | Q(Exists(others))


def start_if_drawn(node: Node, evaluation: Evaluation, result_id: int) -> bool:
    """Queue a second judgement of a joined node's result, in the share of cases that its token names."""
    if node.joined_by is None or evaluation.purpose != Purpose.LIVE:
        return False
    if random.random() >= node.joined_by.judged_again:  # noqa: S311 - a node sees no earlier draws
        return False
    before = Result.objects.get(pk=result_id)
    return before.verdict not in NOT_JUDGED and _start(node, evaluation, before)


def _start(node: Node, evaluation: Evaluation, before: Result) -> bool:
    """Queue the shadow evaluation, unless a rejudge holds it or it is under way."""
    earlier = Evaluation.objects.filter(
        sample=evaluation.sample_id, track=evaluation.track_id, purpose=Purpose.SHADOW
    ).filter(Q(state__in=OPEN_STATES) | Q(pk__in=RejudgeItem.objects.filter(is_open=True).values("shadow")))
    if earlier.exists():
        return False
    shadow_id = shadows_of([evaluation])[evaluation.pk]
    evaluations_queued.send(Recheck, evaluation_ids=[shadow_id], priority=REJUDGE_PRIORITY)
    Job.objects.filter(evaluation=shadow_id, state=JobState.QUEUED).update(apart_from=node)
    Recheck.objects.create(live=evaluation, shadow_id=shadow_id, before=before, node=node)
    return True


def note(shadow: Evaluation, result_id: int) -> None:
    """Compare the second judgement with the first. The caller holds the submission."""
    recheck = Recheck.objects.filter(shadow=shadow, after=None).select_related("before", "node").first()
    if recheck is None:
        return
    after = Result.objects.get(pk=result_id)
    if after.verdict in NOT_JUDGED:
        Recheck.objects.filter(pk=recheck.pk).update(after=after)
        return
    change, ratio = compared(recheck.before, after)
    is_off = change == Change.VERDICT or (ratio is not None and not 1 / TIME_FACTOR <= ratio <= TIME_FACTOR)
    Recheck.objects.filter(pk=recheck.pk).update(after=after, agrees=not is_off, time_ratio=ratio)
    if is_off:
        _flag(recheck, after, change, ratio)


def _flag(recheck: Recheck, after: Result, change: Change, ratio: float | None) -> None:
    """Flag the first result, and have its scores computed again."""
    other = after.provenance.get("node", "")
    found = f"found {after.verdict}" if change == Change.VERDICT else f"took {ratio:.2f} times as long"
    scope = FlagScope.VERDICT if change == Change.VERDICT else FlagScope.TIME
    words = f"Node {recheck.node} judged it, and node {other}, which judged it again, {found}."
    Flag.objects.create(result=recheck.before, code=CODE, scope=scope, detail=words)
    Attempt.objects.filter(pk__in=[recheck.before.attempt]).update(to_score=True)
