"""Has times that other programs lengthened measured again by another node of the track.

The result keeps its flag until the new one is there. Each node measures a sample once in this way. What no node could
measure undisturbed within a day is a person's to decide.
"""

from itertools import chain

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from leaderboard.actions.submissions.rerun import RERUN_PRIORITY
from leaderboard.flags.queue import BUSY_HOST, still_measured
from leaderboard.flags.shown import current, undecided
from leaderboard.models import Evaluation, EvaluationState, Flag, SubmissionState, Track
from leaderboard.models.audit import record
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.signals import evaluations_queued
from leaderboard.standings import scores
from problems.models import ReleaseState
from runners.fleet.again.verify_again import serving
from runners.fleet.models import Job, JobState, Node
from runners.wire.protocol import Purpose

MOST = 200
"""Samples that one sweep queues or takes back."""
REASON = "Other programs lengthened its time on {nodes}, so another node of the track measures it."


def may_take(node: Node) -> Q:
    """The jobs of a queue that this node may run: not those that it has measured while it was busy, nor those
    of another node alone."""
    return (Q(only_on=None) | Q(only_on=node)) & (Q(elsewhere=False) | ~_busy_on(node, "evaluation"))


def _busy_on(node: Node, evaluation: str) -> Q:
    """Whether the node has measured the evaluation of that name while it was busy."""
    flags = Flag.objects.filter(code=BUSY_HOST, result__provenance__node=node.slug, result__origin=ResultOrigin.FLEET)
    return Q(Exists(flags.filter(result__evaluation=OuterRef(evaluation))))


def measure_elsewhere() -> int:
    """Queue the disturbed samples that another node can measure now. Returns their number."""
    flags = Flag.objects.filter(
        undecided(), still_measured(), current(), result__evaluation__purpose=Purpose.LIVE,
        result__evaluation__state=EvaluationState.DONE, result__origin=ResultOrigin.FLEET,
    )  # fmt: skip
    waiting = Evaluation.objects.filter(pk__in=flags.values("result__evaluation"), second_result=None)
    waiting = waiting.filter(submission__release__state=ReleaseState.PUBLISHED)
    waiting = waiting.exclude(submission__state=SubmissionState.CANCELLED)
    waiting = waiting.exclude(submission__entrant__kind=EntrantKind.SYSTEM)
    found = (
        waiting.filter(~_busy_on(node, "pk"), track=track).order_by("pk")[:MOST]
        for track in Track.objects.filter(pk__in=waiting.values("track"))
        for node in Node.objects.filter(pk__in=serving(track))
    )
    return sum(map(_queue, chain.from_iterable(found)))


def take_back() -> int:
    """End the waits for another node where none serves the track any more. Returns their number."""
    waiting = Job.objects.filter(elsewhere=True, state=JobState.QUEUED)
    n_ended = 0
    for track in Track.objects.filter(pk__in=waiting.values("track")):
        lost = waiting.filter(track=track).select_related("evaluation")
        for node in Node.objects.filter(pk__in=serving(track)):
            lost = lost.filter(~may_take(node))
        n_ended += sum(map(_take_back, lost.order_by("pk")[:MOST]))
    return n_ended


@transaction.atomic
def _queue(evaluation: Evaluation) -> bool:
    scores.hold(evaluation.submission_id)
    done = Evaluation.objects.filter(
        pk=evaluation.pk, state=EvaluationState.DONE, current_result=evaluation.current_result_id
    )
    if not done.update(state=EvaluationState.QUEUED, queued_at=timezone.now(), done_at=None):
        return False
    evaluations_queued.send(Evaluation, evaluation_ids=[evaluation.pk], priority=RERUN_PRIORITY)
    Job.objects.filter(evaluation=evaluation, state=JobState.QUEUED).update(elsewhere=True)
    busy = Flag.objects.filter(code=BUSY_HOST, result__evaluation=evaluation).order_by("pk")
    nodes = dict.fromkeys(busy.values_list("result__provenance__node", flat=True))
    record(None, "rerun", evaluation, REASON.format(nodes=", ".join(nodes)))
    return True


@transaction.atomic
def _take_back(job: Job) -> bool:
    assert job.evaluation is not None
    scores.hold(job.evaluation.submission_id)
    if not Job.objects.filter(pk=job.pk, state=JobState.QUEUED).update(state=JobState.CANCELLED):
        return False
    waiting = Evaluation.objects.filter(pk=job.evaluation.pk, state=EvaluationState.QUEUED)
    waiting.update(state=EvaluationState.DONE, done_at=timezone.now())
    record(None, "cancel rerun", job.evaluation, "No other node serves its track any more.")
    return True
