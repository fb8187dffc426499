"""Sweep: returns jobs and uploads with expired leases to the queue, has disturbed times measured elsewhere, and deletes
old trials, PMPP runs and uploads. Retires joined nodes that have gone."""

from django.utils import timezone

from leaderboard.actions.intake.pmpp_runs import forget_old_runs
from leaderboard.actions.intake.try_solution import forget_old_trials
from leaderboard.actions.problems.pack_uploads import sweep_packings
from runners.fleet.again.elsewhere import measure_elsewhere, take_back
from runners.fleet.attempts.returns import expire
from runners.fleet.models import Attempt, AttemptState, JobState
from runners.fleet.nodes.joining import retire_gone


def sweep() -> int:
    """Returns the number of expired leases."""
    expired = Attempt.objects.filter(
        state=AttemptState.LEASED, job__state=JobState.LEASED, job__lease_expires_at__lt=timezone.now()
    ).select_related("job", "node")
    swept = sum(map(expire, expired))
    retire_gone()
    take_back()
    measure_elsewhere()
    forget_old_trials()
    forget_old_runs()
    sweep_packings()
    return swept
