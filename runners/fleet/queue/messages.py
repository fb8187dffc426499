"""Counts, publishes and removes messages in the broker."""

from typing import Any

from celery import Celery
from kombu import Connection, Queue

from runners.wire.queues import GRADE

Place = tuple[str, str]
"""A track's slug and a stage."""


def ready(connection: Connection, queue: Queue) -> int:
    """The number of messages that no consumer has taken. Declares a missing queue."""
    with connection.channel() as channel:
        try:
            declared: Any = queue(channel).queue_declare(passive=True)
            return int(declared.message_count)
        except connection.channel_errors:  # the broker has closed the channel
            pass
    with connection.channel() as channel:
        queue(channel).declare()
    return 0


def publish(app: Celery, connection: Connection, queue: Queue, place: Place, n: int) -> None:
    """Publish n messages, each of which asks for one job of this place."""
    with connection.channel() as channel, app.amqp.Producer(channel, auto_declare=False) as producer:
        for _ in range(n):
            app.send_task(GRADE, args=list(place), queue=queue, producer=producer, retry=False)  # type: ignore[arg-type]


def remove(connection: Connection, queue: Queue, n: int) -> None:
    """Remove n messages, or all if there are fewer."""
    with connection.channel() as channel:
        bound = queue(channel)
        for _ in range(n):
            if bound.get(no_ack=True) is None:
                return
