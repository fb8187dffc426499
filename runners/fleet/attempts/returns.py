"""Returns leases: on a node's request, or after they were lost.

After too many losses of begun work an organiser must decide. A job that goes back too often without a loss is placed
last, and the dashboard names it.
"""

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from runners.fleet.attempts.retries import is_spent, lost_on
from runners.fleet.models import LAST_PRIORITY, Attempt, AttemptState, Job, JobState
from runners.fleet.queue.owner import owner_of
from runners.wire.protocol import Provenance, Report, Verdict


def hold(attempt: Attempt) -> Job:
    """Lock all rows that the end of an attempt may change, in the common order (`scores.hold`).

    Refreshes the attempt and returns its present job.
    """
    owner_of(attempt.job).hold()
    job = Job.objects.select_for_update(of=("self",), no_key=True).get(pk=attempt.job_id)
    attempt.refresh_from_db()
    return job


@transaction.atomic
def give_back(attempt: Attempt) -> None:
    """Queue the job again at the node's request. The attempt does not count as lost; these are bounded separately."""
    job = hold(attempt)
    if not _end(attempt, AttemptState.GIVEN_BACK):
        return
    _put_back(job, "n_given_back", settings.MAX_GIVEN_BACK)


@transaction.atomic
def expire(attempt: Attempt) -> bool:
    """Lose an attempt whose lease has expired. Returns False if a heartbeat or a report came first."""
    job = hold(attempt)
    if job.lease_expires_at is None or job.lease_expires_at >= timezone.now():
        return False
    return lose(attempt, AttemptState.EXPIRED, f"node {attempt.node} sent no more heartbeats")


@transaction.atomic
def lose(attempt: Attempt, state: AttemptState, fault: str) -> bool:
    """End a lost or faulted attempt. Requeues its job, or records a platform error if nodes have tried it enough.

    An attempt whose work had not begun does not count: its node died, or could not reach the site.
    Returns False if the attempt had ended already.
    """
    job = hold(attempt)
    if not _end(attempt, state, fault):
        return False
    if state == AttemptState.EXPIRED and attempt.began_at is None:
        _put_back(job, "n_unbegun", settings.MAX_UNBEGUN)
        return True
    if job.state != JobState.LEASED:
        return True
    if is_spent(job):
        words = f"{job.n_attempts} attempts were lost on {', '.join(lost_on(job).values())}"
        _give_up(job, f"{words}; the last: {fault or 'its lease expired'}")
    else:
        _requeue(job)
    return True


def _end(attempt: Attempt, state: AttemptState, fault: str = "") -> bool:
    open_attempt = Attempt.objects.filter(pk=attempt.pk, state=AttemptState.LEASED)
    return bool(open_attempt.update(state=state, fault=fault[:4000], ended_at=timezone.now()))


def _put_back(job: Job, counter: str, most: int) -> None:
    """Requeue a job whose attempt does not count as lost, last if that has happened `most` times."""
    Job.objects.filter(pk=job.pk).update(n_attempts=F("n_attempts") - 1, **{counter: F(counter) + 1})
    if getattr(job, counter) + 1 >= most:
        Job.objects.filter(pk=job.pk).update(priority=LAST_PRIORITY)
    _requeue(job)


def _requeue(job: Job) -> None:
    moved = Job.objects.filter(pk=job.pk, state=JobState.LEASED).update(state=JobState.QUEUED, lease_expires_at=None)
    if moved:
        owner_of(job).requeue()


def _give_up(job: Job, reason: str) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE, lease_expires_at=None)
    report = Report(verdict=Verdict.PLATFORM_ERROR, reason=reason[:4000], provenance=Provenance())
    owner_of(job).give_up(report)
