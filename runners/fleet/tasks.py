"""What the site worker does on its clock; each task is harmless when run twice or late."""

from celery import shared_task

from leaderboard.actions.rank import rank_touched
from runners.fleet.sweep import sweep


@shared_task(name="podium.rank")
def rank_task() -> int:
    return rank_touched()


@shared_task(name="podium.sweep")
def sweep_task() -> dict[str, int]:
    return sweep()
