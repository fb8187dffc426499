"""A submission's places in the queues, the number of jobs ahead of it, and the stages of its running attempts."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Q, QuerySet

from leaderboard.models import Submission
from runners.fleet.models import QUEUE_ORDER, Attempt, AttemptState, Job, JobState


@dataclass(frozen=True)
class QueuePlace:
    """One queue in which work waits. `ahead` counts the jobs before its next one; its first was queued at `oldest`."""

    track: str
    stage: str
    ahead: int
    oldest: datetime


def queue_places(submission: Submission) -> list[QueuePlace]:
    """One place per queue. Makes one query, and two more per place."""
    return places_of(Job.objects.filter(evaluation__in=submission.evaluations.live()))


def places_of(jobs: QuerySet[Job]) -> list[QueuePlace]:
    """One place per queue in which some of these jobs wait."""
    waiting = jobs.filter(state=JobState.QUEUED)
    queues = waiting.order_by("track__slug", "stage").values_list("track_id", "track__slug", "stage")
    return [
        QueuePlace(slug, stage, n_ahead(waiting.filter(track_id=pk, stage=stage)), oldest)
        for pk, slug, stage, oldest in queues.annotate(Min("queued_at"))
    ]


def n_ahead(waiting: QuerySet[Job]) -> int:
    """The number of jobs in the same queue that precede the first of these."""
    first = waiting.order_by(*QUEUE_ORDER).first()
    if first is None:
        return 0
    queue = Job.objects.filter(track=first.track_id, stage=first.stage, state=JobState.QUEUED)
    return queue.filter(_before(first)).count()


def _before(job: Job) -> Q:
    """Jobs that precede this one in the queue's order."""
    before, equal = Q(), Q()
    for field in QUEUE_ORDER:
        name = field.removeprefix("-")
        value = getattr(job, name)
        before |= equal & Q(**{f"{name}__{'lt' if name == field else 'gt'}": value})
        equal &= Q(**{name: value})
    return before


def running_stages(submission: Submission) -> dict[str, int]:
    """The number of running attempts by stage."""
    leased = Attempt.objects.filter(job__evaluation__in=submission.evaluations.live(), state=AttemptState.LEASED)
    return dict(leased.order_by("work_stage").values_list("work_stage").annotate(Count("pk")))
