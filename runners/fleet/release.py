"""Give leases back: asked for by the node, or found expired by the sweeper; three lost attempts are a person's case."""

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from leaderboard.actions import scores
from leaderboard.actions.record_result import Origin, record_result
from leaderboard.models import Evaluation, EvaluationState
from leaderboard.models.evaluation import ResultOrigin
from runners.fleet import doorbell
from runners.fleet.models import Attempt, AttemptState, Job, JobState
from runners.protocol import Provenance, Report, Verdict


def hold(attempt: Attempt) -> Job:
    """Lock all that the end of an attempt may change, in the order that everybody keeps (`scores.hold`).

    The attempt is read anew; its job is returned as it now stands.
    """
    scores.hold(attempt.job.evaluation.submission_id)
    job = Job.objects.select_for_update(of=("self",), no_key=True).select_related("track").get(pk=attempt.job_id)
    attempt.refresh_from_db()
    return job


@transaction.atomic
def give_back(attempt: Attempt) -> None:
    """The node hands the job back unworked: queued again, and the attempt does not count."""
    job = hold(attempt)
    if not _end(attempt, AttemptState.CANCELLED):
        return
    Job.objects.filter(pk=attempt.job_id).update(n_attempts=F("n_attempts") - 1)
    _requeue(job)


@transaction.atomic
def expire(attempt: Attempt) -> bool:
    """Lose an attempt whose lease has run out; False where a heartbeat or a report came in between."""
    job = hold(attempt)
    if job.lease_expires_at is None or job.lease_expires_at >= timezone.now():
        return False
    return lose(attempt, AttemptState.EXPIRED, f"node {attempt.node} fell silent")


@transaction.atomic
def lose(attempt: Attempt, state: AttemptState, fault: str) -> bool:
    """End a lost or faulted attempt. Requeue its job, or after the last attempt record a platform error.

    Returns False when the attempt had ended already.
    """
    job = hold(attempt)
    if not _end(attempt, state, fault):
        return False
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
