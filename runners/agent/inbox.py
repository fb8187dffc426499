"""Fetches messages from the queues of a node, one at a time."""

import logging
import time
from collections.abc import Collection, Iterator
from typing import Any

from runners.wire.broker import Rarely
from runners.wire.queues import read_by_node

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.5
"""Interval at which an empty queue is asked again. An answer costs RabbitMQ 25 µs of processor time."""
BUSY_LOOK_SECONDS, BUSY_SECONDS = 0.1, 5.0
"""The interval for so long after a message: the next job of a chain of builds and runs begins sooner."""
RETRY_SECONDS = 2.0
"""Interval at which a queue is asked again that the broker refused."""


class Inbox:
    """The queues of one connection. A queue that the broker refuses is left alone for a while and stops no other."""

    def __init__(self, connection: Any, accept: Collection[str], rarely: Rarely) -> None:
        self._connection, self._accept, self._rarely = connection, accept, rarely
        self._queues: dict[str, _Queue] = {}

    def fetch(self, names: Collection[str], n: int) -> Iterator[Any]:
        """At most `n` messages, in turn from each of the named queues that has some."""
        asked = [self._queue(name) for name in names]
        while asked and n > 0:
            asked.sort(key=lambda queue: queue.served_at)
            for queue in asked[:n]:
                if message := self._message(queue):
                    n -= 1
                    yield message
            asked = [queue for queue in asked if queue.may_have_more]

    def _queue(self, name: str) -> "_Queue":
        return self._queues.setdefault(name, _Queue(self._connection, name))

    def _message(self, queue: "_Queue") -> Any:
        try:
            return queue.get(self._accept)
        except self._connection.channel_errors as error:
            queue.leave()
            if self._rarely.due(queue.name):
                logger.warning("the broker refuses the queue %s: %s", queue.name, error)
            return None


class _Queue:
    """A queue on a channel of its own, because an error closes the channel and requeues all messages that it holds."""

    def __init__(self, connection: Any, name: str) -> None:
        self.name, self.served_at = name, 0.0
        self._connection, self._ask_at, self._came_at = connection, 0.0, -BUSY_SECONDS
        self._bound: Any = None

    @property
    def may_have_more(self) -> bool:
        return time.monotonic() >= self._ask_at

    def get(self, accept: Collection[str]) -> Any:
        """Its next message, or None. Asks an empty queue at its interval only."""
        if not self.may_have_more:
            return None
        if self._bound is None:
            self._bound = read_by_node(self.name)(self._connection.channel())
        message: Any = self._bound.get(accept=accept)
        self.served_at = time.monotonic()
        if message is None:
            is_busy = self.served_at - self._came_at < BUSY_SECONDS
            self._ask_at = self.served_at + (BUSY_LOOK_SECONDS if is_busy else LOOK_SECONDS)
        else:
            self._came_at = self.served_at
        return message

    def leave(self) -> None:
        """Give up the channel after an error. The library opens it anew, but its messages are no longer this node's."""
        bound, self._bound, self._ask_at = self._bound, None, time.monotonic() + RETRY_SECONDS
        if bound is not None:
            bound.channel.close()
