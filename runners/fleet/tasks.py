"""The site's periodic tasks. Each expires at its next turn, and none runs twice at the same time."""

import logging
from collections.abc import Callable
from typing import Any

from celery import Task, shared_task
from django.db import DatabaseError

from leaderboard.standings.rank import rank_touched
from runners.fleet.sweep import sweep as sweep_leases
from runners.fleet.task_locks import held
from runners.fleet.top_up import top_up_all

logger = logging.getLogger(__name__)
RANK_LOCK_SECONDS = 300.0
"""Maximum pause of ranking after a worker died during it."""
SWEEP_LOCK_SECONDS = 5.0
"""The same for sweeping. A dead node's work waits this much longer. Two sweeps at the same time do no harm."""


@shared_task(name="podium.rank")
def rank() -> None:
    _alone("rank", rank_touched, RANK_LOCK_SECONDS)


@shared_task(name="podium.sweep")
def sweep() -> None:
    _alone("sweep", sweep_leases, SWEEP_LOCK_SECONDS)


@shared_task(name="podium.top_up", bind=True)
def top_up(self: "Task[Any, Any]") -> None:
    top_up_all(self.app)


def _alone(name: str, step: Callable[[], int], lock_seconds: float) -> None:
    """Run a step under its lock. An unavailable database ends this turn only."""
    try:
        with held(name, lock_seconds) as is_ours:
            if is_ours:
                step()
    except DatabaseError:
        logger.exception("%s failed; trying again at its next turn", name)
