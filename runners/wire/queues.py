"""The queues and task names that the site and its nodes share."""

from kombu import Exchange, Queue

from runners.wire.protocol import Stage

GRADE = "podium.grade"
"""The nodes' task. Its arguments `(track, stage)` ask for one job of that queue."""
CLAIMED_EVENT = "task-claimed"
LONGEST_ATTEMPT_SECONDS = 24 * 3600
"""Maximum time for a message's acknowledgement on Redis, which a node sends after the job has ended."""


def queue_name(track: str, stage: Stage | str) -> str:
    """The queue of one stage of a track."""
    return f"track.{track}.{Stage(stage).value}"


def declared_by_site(name: str) -> Queue:
    """The queue as the site declares it: classic, without arguments, which every RabbitMQ from 3.10 to 4.3 accepts.

    Messages reach it through the default exchange, so it needs no binding.
    """
    return Queue(name, Exchange(""), routing_key=name)


def read_by_node(name: str) -> Queue:
    """The queue as a node reads it, without declaring it: a node's broker account may only read."""
    return Queue(name, Exchange(""), routing_key=name, no_declare=True)
