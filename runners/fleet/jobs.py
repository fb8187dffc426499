"""Jobs: made in the transaction that queues their evaluations; the doorbell rings after commit."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max, Min
from django.utils import timezone

from leaderboard.models import Evaluation, Track
from leaderboard.signals import evaluations_cancelled, evaluations_queued
from runners.fleet import doorbell
from runners.fleet.models import Attempt, AttemptState, Job, JobState
from runners.protocol import Stage

BATCH = 1000


def connect() -> None:
    evaluations_queued.connect(_make_jobs, dispatch_uid="fleet-jobs")
    evaluations_cancelled.connect(_cancel_jobs, dispatch_uid="fleet-cancel")


def _chunks(ids: Sequence[int]) -> Iterable[Sequence[int]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]


def _make_jobs(*, evaluation_ids: Sequence[int], priority: int, **_: Any) -> None:
    rows: dict[int, list[int]] = {}
    for chunk in _chunks(evaluation_ids):
        for track_id, pk in Evaluation.objects.filter(pk__in=chunk).order_by("pk").values_list("track_id", "pk"):
            rows.setdefault(track_id, []).append(pk)
    for track in Track.objects.filter(pk__in=rows):
        make(track, rows[track.pk], priority, Stage.BUILD if track.splits_jobs else Stage.BOTH)


def make(track: Track, evaluation_ids: Sequence[int], priority: int, stage: Stage, **extra: Any) -> None:
    """Queue one job per evaluation, tagged so that submissions take turns, and ring once the rows are committed."""
    now = _virtual_time(track, stage)
    Job.objects.bulk_create(
        (
            Job(evaluation_id=pk, track=track, stage=stage, priority=priority, fair_tag=now + n, **extra)
            for n, pk in enumerate(evaluation_ids, start=1)
        ),
        batch_size=BATCH,
    )
    transaction.on_commit(lambda: doorbell.ring(track.slug, stage, len(evaluation_ids)))


def _virtual_time(track: Track, stage: Stage) -> int:
    """The queue's present tag: the lowest still queued, else the highest ever leased (0 on an idle, empty queue)."""
    queue = Job.objects.filter(track=track, stage=stage)
    lowest: int | None = queue.filter(state=JobState.QUEUED).aggregate(tag=Min("fair_tag"))["tag"]
    if lowest is not None:
        return lowest - 1
    running: int | None = queue.filter(state=JobState.LEASED).aggregate(tag=Max("fair_tag"))["tag"]
    return running or 0


def _cancel_jobs(*, evaluation_ids: Sequence[int], **_: Any) -> None:
    """Withdraw queued jobs; leased ones are cancelled too and their nodes hear of it at the next heartbeat."""
    for chunk in _chunks(evaluation_ids):
        jobs = Job.objects.filter(evaluation_id__in=chunk, state__in=[JobState.QUEUED, JobState.LEASED])
        jobs.update(state=JobState.CANCELLED, cancel_requested=True, lease_expires_at=None)
        # after the jobs: a claim that was under way has committed its attempt by now
        Attempt.objects.filter(job__evaluation_id__in=chunk, state=AttemptState.LEASED).update(
            state=AttemptState.CANCELLED, ended_at=timezone.now()
        )
