"""Bounds how many calls of nodes a process of the site serves at once. Further ones are answered 503 early.

So the pages of the site stay quick while a thousand nodes call, and a node learns within a second when to call again.
"""

import logging
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

WAIT_SECONDS = 0.5
"""Longest wait of a call for its turn."""
WAITING_PER_CALL = 0.5
"""Calls that may wait for each that is served. Each keeps one of the server's threads."""
RETRY_AFTER_SECONDS = 5
"""Shortest time after which a node that was turned away calls again; the longest is twice as long."""
HELD_BEYOND_SECONDS = 60.0
"""A lease whose report was turned away lasts this much longer than the node is asked to wait."""

logger = logging.getLogger(__name__)


class CallGate:
    """Lets `n` calls through at a time. Half as many may wait for a moment."""

    def __init__(self, n: int) -> None:
        self._turns = threading.BoundedSemaphore(n)
        self._waits = threading.BoundedSemaphore(max(1, int(n * WAITING_PER_CALL)))

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Yields whether the call has its turn."""
        has_turn = self._turns.acquire(blocking=False) or self._wait()
        try:
            yield has_turn
        finally:
            if has_turn:
                self._turns.release()

    def _wait(self) -> bool:
        if not self._waits.acquire(blocking=False):
            return False
        try:
            return self._turns.acquire(timeout=WAIT_SECONDS)
        finally:
            self._waits.release()


GATE = CallGate(settings.NODE_CALLS)


def retry_after_seconds() -> int:
    """A time at random, so that nodes that were turned away together do not come back together."""
    return random.randint(RETRY_AFTER_SECONDS, 2 * RETRY_AFTER_SECONDS)  # noqa: S311 - no secret
