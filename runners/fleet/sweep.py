"""Sweep: expired leases go back to the queue, and queues with work are rung again."""

from django.utils import timezone

from runners.fleet import doorbell
from runners.fleet.models import Attempt, AttemptState, Job, JobState
from runners.fleet.release import expire


def sweep() -> dict[str, int]:
    """Returns how many leases were swept and how many bells were rung."""
    expired = Attempt.objects.filter(
        state=AttemptState.LEASED, job__state=JobState.LEASED, job__lease_expires_at__lt=timezone.now()
    ).select_related("job__evaluation", "node")
    swept = sum(map(expire, expired))
    queues = Job.objects.filter(state=JobState.QUEUED).order_by().values_list("track__slug", "stage").distinct()
    return {"swept": swept, "rung": sum(doorbell.ring(track, stage) for track, stage in queues)}
