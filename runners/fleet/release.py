"""Give leases back: asked for by the node, or found expired by the sweeper; three lost attempts are a person's case."""

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from leaderboard.actions.record_result import Origin, record_result
from leaderboard.models import Evaluation, EvaluationState
from leaderboard.models.evaluation import ResultOrigin
from runners.fleet import doorbell
from runners.fleet.models import Attempt, AttemptState, Job, JobState
from runners.protocol import Provenance, Report, Verdict


@transaction.atomic
def give_back(attempt: Attempt) -> None:
    """The node hands the job back unworked: queued again, and the attempt does not count."""
    if not _end(attempt, AttemptState.CANCELLED):
        return
    Job.objects.filter(pk=attempt.job_id).update(n_attempts=F("n_attempts") - 1)
    _requeue(attempt.job)


@transaction.atomic
def lose(attempt: Attempt, state: AttemptState, fault: str) -> bool:
    """End a lost or faulted attempt. Requeue its job, or after the last attempt record a platform error.

    Returns False when the attempt had ended already.
    """
    if not _end(attempt, state, fault):
        return False
    job = Job.objects.select_related("track").get(pk=attempt.job_id)
    if job.state != JobState.LEASED:
        return True
    if job.n_attempts >= settings.MAX_ATTEMPTS:
        _give_up(job, fault)
    else:
        _requeue(job)
    return True


def _end(attempt: Attempt, state: AttemptState, fault: str = "") -> bool:
    open_attempt = Attempt.objects.filter(pk=attempt.pk, state=AttemptState.LEASED)
    return bool(open_attempt.update(state=state, fault=fault[:4000], ended_at=timezone.now()))


def _requeue(job: Job) -> None:
    moved = Job.objects.filter(pk=job.pk, state=JobState.LEASED).update(state=JobState.QUEUED, lease_expires_at=None)
    if moved:
        Evaluation.objects.filter(pk=job.evaluation_id, state=EvaluationState.LEASED).update(
            state=EvaluationState.QUEUED
        )
        transaction.on_commit(lambda: doorbell.ring(job.track.slug, job.stage))


def _give_up(job: Job, fault: str) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE, lease_expires_at=None)
    reason = f"{settings.MAX_ATTEMPTS} attempts were lost; the last: {fault or 'its lease expired'}"
    report = Report(verdict=Verdict.PLATFORM_ERROR, reason=reason[:4000], provenance=Provenance())
    record_result(Evaluation.objects.get(pk=job.evaluation_id), report, Origin(ResultOrigin.SITE))
