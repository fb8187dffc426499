"""Keeps one message per queued job in each queue of the broker. Only this module publishes messages."""

from typing import Any

from celery import Celery
from django.db.models import Count
from kombu import Connection, Queue

from runners.fleet.messages import Place, publish, ready, remove
from runners.fleet.models import Job, JobState, NodeGrant
from runners.fleet.task_locks import held
from runners.wire.queues import declared_by_site, queue_name

LOCK_SECONDS = 10.0
"""Maximum pause of a queue after a worker died while it published. If publishing takes longer, another worker may
publish some messages again; the next comparison removes them."""


def top_up_all(app: Celery) -> int:
    """Compare each queue that has jobs or readers with its rows. Returns the number of messages added or removed."""
    queued = _queued()
    readers = NodeGrant.objects.order_by().values_list("track__slug", "stage").distinct()
    with app.connection_for_write() as connection:
        differing = [
            place for place in sorted({*queued, *readers}) if ready(connection, _queue(place)) != queued.get(place, 0)
        ]
        return sum(abs(top_up(app, connection, place)) for place in differing)


def top_up(app: Celery, connection: Connection, place: Place) -> int:
    """Publish or remove messages until one queue fits its jobs. Returns the change, 0 if another worker does it."""
    queue = _queue(place)
    with held(f"top-up {queue.name}", LOCK_SECONDS) as is_ours:
        if not is_ours:
            return 0
        # Messages are counted first. If a job is claimed in between, the next comparison removes the surplus message.
        n_ready = ready(connection, queue)
        missing = _queued(track__slug=place[0], stage=place[1]).get(place, 0) - n_ready
        if missing > 0:
            publish(app, connection, queue, place, missing)
        else:
            remove(connection, queue, -missing)
        return missing


def _queue(place: Place) -> Queue:
    return declared_by_site(queue_name(*place))


def _queued(**of: Any) -> dict[Place, int]:
    jobs = Job.objects.filter(state=JobState.QUEUED, **of).order_by()
    rows = jobs.values_list("track__slug", "stage").annotate(n=Count("pk"))
    return {(track, stage): n for track, stage, n in rows}
