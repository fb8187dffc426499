"""The cost of a hand-off beside the solution, measured with a contestant whose work is known: it fills memory.

The same fill has a time in the checker, between two events on a device that is as cold, as `do_bench` would tell it;
the rest is the cost.
"""

import statistics
from collections.abc import Sequence
from typing import Any

from .buffers import Buffers
from .clock import Times
from .match import START_SECONDS, Match, close
from .plan import DeviceCost

FIRST_CALLS, COUNTED_CALLS = 3, 11
"""Calls of a calibration by one clock: before those that count, and those whose median counts."""


class DeviceCalibration:
    """Calibrates with the contestant of a match. Raises Ended and DeviceFault."""

    def __init__(self, match: Match) -> None:
        self._match = match

    def cost(self, number: int, known: DeviceCost | None) -> DeviceCost:
        """The cost of calls of this case in this process, and in those that are known.

        The contestant fills the outputs, too, after its `setup` was called, until that is called again: so that the
        copies find the outputs where a solution leaves them.
        """
        drawn = self._match.draw(number)
        sets = self._match.sets(number, drawn)
        try:
            self._match.give(sets)
            by_host = self._by_host(sets, drawn)
            plain = self._handed(sets, drawn)
            self._match.call_setup(START_SECONDS)
            filling = self._handed(sets, drawn)
            self._match.call_setup(START_SECONDS)
        finally:
            close(sets)
        own_ns = self._own_ns()
        before = known or DeviceCost((), (), 0.0, 0.0, self._reference_ns(drawn))
        return before._replace(
            clocks_ns=(*before.clocks_ns, statistics.median(one.clock_ns for one in plain) - own_ns),
            hosts_ns=(*before.hosts_ns, statistics.median(one.clock_ns for one in by_host) - own_ns),
            copies_ns=statistics.median(one.wide_ns - one.clock_ns for one in filling),
            known_ns=statistics.median(one.known_ns for one in [*plain, *filling]),
        )

    def _handed(self, sets: Sequence[Buffers], drawn: Any) -> list[Times]:
        calls = [self._match.hand_off(sets[0], drawn, START_SECONDS)[0] for _ in range(FIRST_CALLS + COUNTED_CALLS)]
        return calls[FIRST_CALLS:]

    def _by_host(self, sets: Sequence[Buffers], drawn: Any) -> list[Times]:
        calls = [self._match.call(sets, [drawn], False, START_SECONDS)[0] for _ in range(FIRST_CALLS + COUNTED_CALLS)]
        return calls[FIRST_CALLS:]

    def _own_ns(self) -> float:
        own = [self._match.fill_ns() for _ in range(FIRST_CALLS + COUNTED_CALLS)]
        return float(statistics.median(own[FIRST_CALLS:]))

    def _reference_ns(self, drawn: Any) -> float:
        """How long the problem's own reference works on a call, in the checker: it decides how many calls are timed."""
        return float(min(self._match.memory.work_ns(lambda: self._match.loaded.answer(drawn)) for _ in range(2)))
