"""A clock for limits. It leaves out the time for which its own reader stood still."""

import time
from collections.abc import Callable

STALL_SECONDS = 2.0
"""A gap between two readings that is longer than this is no delay by load: the process or its machine stood still."""


class TickClock:
    """Seconds for which the reader has been awake. It must be read about once a second or more often.

    A process that was stopped for ten seconds could not look at its commands meanwhile, so that a limit that passed in
    these ten seconds says nothing about them.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._read_at = monotonic()
        self._stalled = 0.0

    def now(self) -> float:
        at = self._monotonic()
        gap = at - self._read_at
        self._read_at = at
        if gap > STALL_SECONDS:
            self._stalled += gap
        return at - self._stalled
