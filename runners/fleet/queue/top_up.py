"""Keeps one message per queued job in each queue of the broker. Only this module publishes messages."""

import logging
from collections.abc import Mapping
from typing import Any

from celery import Celery
from django.db.models import Count
from kombu import Connection, Queue

from runners.fleet.again.rechecks import has_takers
from runners.fleet.models import Job, JobState, NodeGrant
from runners.fleet.queue.messages import Place, publish, ready, remove
from runners.fleet.worker.broker_faults import keep_of_queues
from runners.fleet.worker.task_locks import held
from runners.wire.broker import Rarely, refusal
from runners.wire.queues import declared_by_site, queue_name

logger = logging.getLogger(__name__)
_rarely = Rarely()

LOCK_SECONDS = 10.0
"""Maximum pause of a queue after a worker died while it published. If publishing takes longer, another worker may
publish some messages again; the next comparison removes them."""


def top_up_all(app: Celery) -> int:
    """Compare each queue that has jobs or readers with its rows. Returns the number of messages added or removed.

    A queue that the broker refuses is noted and stops no other. While the broker is away nothing happens.
    """
    with app.connection_for_write() as connection:
        errors = (*connection.channel_errors, *connection.connection_errors)
        try:
            connection.connect()
            return _compare(app, connection, errors)
        except errors as error:
            if _rarely.due("broker"):
                logger.warning("the broker is away: %s", error)
            return 0


def _compare(app: Celery, connection: Connection, errors: tuple[type[BaseException], ...]) -> int:
    queued = queued_jobs()
    changed, refused = 0, {}
    for place in places(queued):
        try:
            if ready(connection, queue_of(place)) != queued.get(place, 0):
                changed += abs(top_up(app, connection, place))
        except errors as error:
            name = queue_name(*place)
            refused[name] = refusal(error)
            if _rarely.due(name):
                logger.warning("the broker refuses the queue %s: %s", name, error)
            connection.close()
            connection.connect()
    keep_of_queues(refused)
    return changed


def places(queued: Mapping[Place, int]) -> list[Place]:
    """The queues that there should be: those with jobs, and those that nodes are granted."""
    readers = NodeGrant.objects.order_by().values_list("track__slug", "stage").distinct()
    return sorted({*queued, *readers})


def top_up(app: Celery, connection: Connection, place: Place) -> int:
    """Publish or remove messages until one queue fits its jobs. Returns the change, 0 if another worker does it."""
    queue = queue_of(place)
    with held(f"top-up {queue.name}", LOCK_SECONDS) as is_ours:
        if not is_ours:
            return 0
        # Messages are counted first. If a job is claimed in between, the next comparison removes the surplus message.
        n_ready = ready(connection, queue)
        missing = queued_jobs(track__slug=place[0], stage=place[1]).get(place, 0) - n_ready
        if missing > 0:
            publish(app, connection, queue, place, missing)
        else:
            remove(connection, queue, -missing)
        return missing


def queue_of(place: Place) -> Queue:
    return declared_by_site(queue_name(*place))


def queued_jobs(**of: Any) -> dict[Place, int]:
    jobs = Job.objects.filter(has_takers(), state=JobState.QUEUED, **of).order_by()
    rows = jobs.values_list("track__slug", "stage").annotate(n=Count("pk"))
    return {(track, stage): n for track, stage, n in rows}
