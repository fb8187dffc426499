"""The site's periodic tasks. Each expires at its next turn, and none runs twice at the same time."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from celery import Task, shared_task
from celery.signals import worker_shutting_down
from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from leaderboard.actions.curation.audit import audit_due, settle_audits
from leaderboard.actions.rejudging.void_results import continue_voidings
from leaderboard.blobs import BlobsUnavailable
from leaderboard.models import ReleaseTrack
from leaderboard.notifications.announce import announce_ended
from leaderboard.notifications.deliver import deliver_due
from leaderboard.packing import ground
from leaderboard.packing.step import ENDING, pack_next
from leaderboard.settle.questions import settle_questions
from leaderboard.similarity.compare import compare_new
from leaderboard.standings.rank import rank_if_stale, stale_places
from leaderboard.standings.reference_noise.shared_noise import measure_shared_noise
from runners.fleet.again.reference_runs import watch_noise
from runners.fleet.again.verify_again import verify_again as start_due_verifications
from runners.fleet.queue.top_up import top_up_all
from runners.fleet.worker import pulse
from runners.fleet.worker.collect import collect as collect_blobs
from runners.fleet.worker.pace import RANKINGS
from runners.fleet.worker.score import score_reported
from runners.fleet.worker.sweep import sweep as sweep_leases
from runners.fleet.worker.task_locks import held

logger = logging.getLogger(__name__)
RANK_LOCK_SECONDS, SETTLE_LOCK_SECONDS, SWEEP_LOCK_SECONDS, COMPARE_LOCK_SECONDS = 30.0, 30.0, 5.0, 300.0
VOID_LOCK_SECONDS, VERIFY_LOCK_SECONDS, NOTIFY_LOCK_SECONDS, NOISE_LOCK_SECONDS = 60.0, 60.0, 60.0, 300.0
SCORE_LOCK_SECONDS, AUDIT_LOCK_SECONDS, COLLECT_LOCK_SECONDS = 30.0, 60.0, 3600.0
COLLECT_HOUR = 3
"""Maximum pauses of these tasks after a worker died during them. A step that takes longer may run twice at the same
time. That costs time and changes nothing else."""


@shared_task(name="podium.rank")
def rank() -> None:
    """Each board under a lock of its own: a large one holds up no other while another thread or worker is free."""
    for place in _reading("rank", stale_places):
        if RANKINGS.is_due(place.pk):
            _alone(f"rank {place.pk}", partial(_rank, place), RANK_LOCK_SECONDS)


def _rank(place: ReleaseTrack) -> int:
    with RANKINGS.step(place.pk):
        return rank_if_stale(place)


@shared_task(name="podium.score")
def score() -> None:
    _alone("score", score_reported, SCORE_LOCK_SECONDS)


@shared_task(name="podium.settle")
def settle() -> None:
    _alone("settle", settle_questions, SETTLE_LOCK_SECONDS)


@shared_task(name="podium.compare")
def compare() -> None:
    _alone("compare", compare_new, COMPARE_LOCK_SECONDS)


@shared_task(name="podium.sweep")
def sweep() -> None:
    _alone("sweep", sweep_leases, SWEEP_LOCK_SECONDS)


@shared_task(name="podium.void")
def void() -> None:
    _alone("void", continue_voidings, VOID_LOCK_SECONDS)


@shared_task(name="podium.verify_again")
def verify_again() -> None:
    _alone("verify again", start_due_verifications, VERIFY_LOCK_SECONDS)
    _alone("watch noise", watch_noise, VERIFY_LOCK_SECONDS)


@shared_task(name="podium.audit")
def audit() -> None:
    _alone("audit", audit_due, AUDIT_LOCK_SECONDS)
    _alone("settle audits", settle_audits, AUDIT_LOCK_SECONDS)


@shared_task(name="podium.measure_noise")
def measure_noise() -> None:
    _alone("measure noise", measure_shared_noise, NOISE_LOCK_SECONDS)


@shared_task(name="podium.collect")
def collect() -> None:
    """Once a night, if the site's settings ask for it. An interval of a day would start anew with each worker."""
    if settings.COLLECT_BLOBS and timezone.now().hour == COLLECT_HOUR:
        _alone("collect", lambda: collect_blobs(deletes=True).n_unnamed, COLLECT_LOCK_SECONDS)


@shared_task(name="podium.notify")
def notify() -> None:
    _alone("announce", announce_ended, NOTIFY_LOCK_SECONDS)
    _alone("deliver", deliver_due, NOTIFY_LOCK_SECONDS)


@shared_task(name="podium.pack")
def pack() -> None:
    """Takes minutes where an upload waits. The row says who is at it, so other turns meanwhile do nothing."""
    try:
        ground.look()
        pack_next()
    except (DatabaseError, BlobsUnavailable):
        logger.exception("pack failed; the sweep gives the upload to a later turn")


@worker_shutting_down.connect
def _end_packing(**_: Any) -> None:
    ENDING.set()


@shared_task(name="podium.top_up", bind=True)
def top_up(self: "Task[Any, Any]") -> None:
    pulse.TASKS.note()
    top_up_all(self.app)


def _alone(name: str, step: Callable[[], int], lock_seconds: float) -> None:
    """Run a step under its lock. An unavailable database or blob store ends this turn only."""
    try:
        with held(name, lock_seconds) as is_ours:
            if is_ours:
                step()
    except (DatabaseError, BlobsUnavailable):
        logger.exception("%s failed; trying again at its next turn", name)


def _reading(name: str, rows: Callable[[], list[Any]]) -> list[Any]:
    """The rows; none while the database is unavailable."""
    try:
        return rows()
    except DatabaseError:
        logger.exception("%s failed; trying again at its next turn", name)
        return []
