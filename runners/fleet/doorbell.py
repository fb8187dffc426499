"""Ring: tell nodes that there is work. Only a hint; the rows are the queue, so a bell that fails to ring is logged."""

import logging

from django.utils import timezone
from kombu.exceptions import OperationalError

from runners.doorbell import EXPIRES_SECONDS, TASK, queue_name
from runners.fleet.models import ONLINE_FOR, NodeGrant
from runners.protocol import Stage

logger = logging.getLogger(__name__)


def ring(track: str, stage: Stage | str, n_jobs: int = 1) -> int:
    """One message per online node that may serve the queue, at most one per job; returns how many were sent.

    A node that is offline needs none: it claims when it starts, and the sweeper rings again.
    """
    listening = NodeGrant.objects.filter(
        track__slug=track, stage=stage, node__last_seen_at__gt=timezone.now() - ONLINE_FOR, node__disabled_reason=""
    ).count()
    n_rings = min(n_jobs, listening)
    from leaderboard.celery import app

    try:
        for _ in range(n_rings):
            app.send_task(
                TASK,
                args=[track, Stage(stage).value],
                queue=queue_name(track, stage),
                expires=EXPIRES_SECONDS,
                retry=False,
            )
    except (OSError, OperationalError) as error:
        logger.warning("doorbell for %s %s did not ring: %s", track, stage, error)
        return 0
    return n_rings
