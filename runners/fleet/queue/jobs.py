"""Makes jobs in the transaction that queues what they belong to. top_up.py publishes them within a second."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Max, Min
from django.utils import timezone

from leaderboard.models import Evaluation, PmppRun, Track, Trial
from leaderboard.signals import evaluations_cancelled, evaluations_queued, pmpp_runs_queued, trials_queued
from problems.spec.kinds import NODE_KINDS
from runners.fleet.models import Attempt, AttemptState, Job, JobState
from runners.fleet.queue.owner import EvaluationOwner, JobOwner, PmppRunOwner, TrialOwner
from runners.wire.protocol import Stage

BATCH = 1000
PMPP_PRIORITY = 0
"""The priority of packs. A PMPP run's caller is a program that may ask for thousands."""


def connect() -> None:
    evaluations_queued.connect(_make_jobs, dispatch_uid="fleet-jobs")
    trials_queued.connect(_make_trial_jobs, dispatch_uid="fleet-trials")
    pmpp_runs_queued.connect(_make_pmpp_job, dispatch_uid="fleet-pmpp-runs")
    evaluations_cancelled.connect(_cancel_jobs, dispatch_uid="fleet-cancel")


def _chunks(ids: Sequence[int]) -> Iterable[Sequence[int]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]


def _make_jobs(*, evaluation_ids: Sequence[int], priority: int, **_: Any) -> None:
    rows: dict[int, list[int]] = {}
    for chunk in _chunks(evaluation_ids):
        ours = Evaluation.objects.filter(pk__in=chunk, problem__kind__in=NODE_KINDS)
        for track_id, pk in ours.order_by("pk").values_list("track_id", "pk"):
            rows.setdefault(track_id, []).append(pk)
    for track in Track.objects.filter(pk__in=rows):
        make(track, [EvaluationOwner(pk) for pk in rows[track.pk]], priority, _first_stage(track))


def _make_trial_jobs(*, trial_ids: Sequence[int], priority: int, **_: Any) -> None:
    for trial in Trial.objects.filter(pk__in=trial_ids).select_related("track"):
        make(trial.track, [TrialOwner(trial.pk)], priority, _first_stage(trial.track))


def _make_pmpp_job(*, run_id: int, n_before: int, **_: Any) -> None:
    """Queued behind the token's open runs, so that one token takes turns with submissions."""
    track = PmppRun.objects.select_related("token__track").get(pk=run_id).token.track
    make(track, [PmppRunOwner(run_id)], PMPP_PRIORITY, _first_stage(track), n_before=n_before)


def _first_stage(track: Track) -> Stage:
    return Stage.BUILD if track.splits_jobs else Stage.BOTH


def make(
    track: Track, owners: Sequence[JobOwner], priority: int, stage: Stage, n_before: int = 0, **extra: Any
) -> None:
    """Queue one job for each owner, tagged so that submissions take turns, after `n_before` of the same tenant."""
    now = _virtual_time(track, stage, priority) + n_before
    Job.objects.bulk_create(
        (
            Job(track=track, stage=stage, priority=priority, fair_tag=now + n, **owner.columns, **extra)
            for n, owner in enumerate(owners, start=1)
        ),
        batch_size=BATCH,
    )


def _virtual_time(track: Track, stage: Stage, priority: int) -> int:
    """The present tag of the queue's jobs of this priority: the lowest that is queued, else the highest that is leased,
    else 0. Jobs of other priorities do not count: those that wait behind live work would hold its tag back."""
    queue = Job.objects.filter(track=track, stage=stage, priority=priority)
    lowest: int | None = queue.filter(state=JobState.QUEUED).aggregate(tag=Min("fair_tag"))["tag"]
    if lowest is not None:
        return lowest - 1
    running: int | None = queue.filter(state=JobState.LEASED).aggregate(tag=Max("fair_tag"))["tag"]
    return running or 0


def _cancel_jobs(*, evaluation_ids: Sequence[int], **_: Any) -> set[int]:
    """Cancel queued and leased jobs. The nodes of leased ones learn of it at their next heartbeat.

    Returns the evaluations that an attempt began.
    """
    begun: set[int] = set()
    for chunk in _chunks(evaluation_ids):
        jobs = Job.objects.filter(evaluation_id__in=chunk, state__in=[JobState.QUEUED, JobState.LEASED])
        jobs.update(state=JobState.CANCELLED, cancel_requested=True, lease_expires_at=None)
        # after the jobs, so that a concurrent claim has committed its attempt by now
        began = Attempt.objects.filter(job__evaluation_id__in=chunk, began_at__isnull=False)
        begun.update(began.values_list("job__evaluation_id", flat=True))
        Attempt.objects.filter(job__evaluation_id__in=chunk, state=AttemptState.LEASED).update(
            state=AttemptState.CANCELLED, ended_at=timezone.now()
        )
    return begun
