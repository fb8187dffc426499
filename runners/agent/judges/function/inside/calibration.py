"""What a call of a case costs beside the solution, measured with a contestant whose work is known."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from .buffers import Buffers
from .clock import Times
from .match import START_SECONDS, Match, close
from .plan import Overhead, Plan, spread

REFERENCE_CALLS, SHORT_CALLS = 3, 20
"""Of the reference: at least, and at most while they are short. The first takes three times as long as a later one."""
COPY_CALLS, GO_CALLS = 7, 31
"""Calls with which the cost of copies is calibrated, and that of a go on a GPU."""
PAUSES_SECONDS = (0.01, 0.0)
"""Before a calibrating call on a GPU. Cores and device fall asleep in the first; a solution's calls lie between."""
WARM_UPS = Plan().warm_ups


class Calibration:
    """Calibrates with the contestant of a match. Raises Ended and DeviceFault."""

    def __init__(self, match: Match) -> None:
        self._match = match

    def overhead(self, number: int, *, is_timed: bool = False) -> Overhead:
        """What a call of this case costs beside the solution; only that the case is too short, if it is. A case that
        is timed for everybody is not.

        The contestant is one that does nothing, or fills the outputs after its `setup` was called, until that is called
        again. The first gives the way from go to done; with the second the copies find the outputs where a solution
        leaves them.
        """
        drawn = self._match.draw(number)
        sets = self._match.sets(number, drawn)
        if not is_timed and len(sets) == 1 and self._reference_ns(drawn) < self._match.memory.least_reference_ns:
            close(sets)
            return Overhead(is_short=True)
        try:
            self._match.give(sets)
            idle = self._idle(number, sets)
            singly = (
                self._calibrating(number, sets, COPY_CALLS, copies_all=True, n_goes=len(sets)) if len(sets) > 1 else []
            )
            self._match.call_setup(START_SECONDS)
            some = self._calibrating(number, sets, COPY_CALLS)
            every = (
                self._calibrating(number, sets, COPY_CALLS, copies_all=True) if self._match.memory.may_copy_all else []
            )
            self._match.call_setup(START_SECONDS)
        finally:
            close(sets)
        typical = self._typical
        gaps_ns = [one.clock_ns - one.whole_ms * 1e6 for one in some]
        return Overhead(
            self._goes_ns(idle),
            typical([one.complete_ns + one.copy_ns for one in some]),
            typical([one.complete_ns + one.copy_ns for one in every]) if every else math.inf,
            statistics.median(one.write_ns for one in [*idle[0], *some]),
            statistics.median(gaps_ns),
            max(gaps_ns) - min(gaps_ns),
            statistics.median((one.whole_ms - one.events_ms) * 1e6 for one in idle[0]),
            *spread([ns for one in singly for ns in one.each_ns[1:]]),
        )

    def again(self, number: int, known: Overhead) -> Overhead:
        """`known` with one more process's times from go to done."""
        if known.is_short:
            return known
        sets = self._match.sets(number, self._match.draw(number))
        try:
            self._match.give(sets)
            idle = self._idle(number, sets)
        finally:
            close(sets)
        return known._replace(goes_ns=(*known.goes_ns, *self._goes_ns(idle)))

    def _idle(self, number: int, sets: Sequence[Buffers]) -> list[list[Times]]:
        """Calls of a solution that does nothing, by rhythm: on a GPU after pauses and in a rush."""
        if not self._match.memory.flush:
            return [self._calibrating(number, sets, COPY_CALLS)]
        return [self._calibrating(number, sets, GO_CALLS, pause_s=pause_s) for pause_s in PAUSES_SECONDS]

    def _goes_ns(self, idle: Sequence[Sequence[Times]]) -> tuple[float, ...]:
        return tuple(self._typical([one.go_ns for one in calls]) for calls in idle)

    @property
    def _typical(self) -> Callable[[Sequence[float]], float]:
        return statistics.median if self._match.memory.flush else min

    def _reference_ns(self, drawn: Any) -> float:
        """How long the problem's own reference works on a call, in the checker."""
        calls_ns: list[float] = []
        short_ns = self._match.memory.least_reference_ns * SHORT_CALLS
        while len(calls_ns) < REFERENCE_CALLS or (len(calls_ns) < SHORT_CALLS and sum(calls_ns) < short_ns):
            calls_ns.append(self._match.memory.work_ns(lambda: self._match.loaded.answer(drawn)))
        return min(calls_ns)

    def _calibrating(
        self,
        number: int,
        sets: Sequence[Buffers],
        count: int,
        *,
        copies_all: bool = False,
        n_goes: int = 1,
        pause_s: float = PAUSES_SECONDS[0],
    ) -> list[Times]:
        """Calls of a solution whose work is known.

        On a CPU data is drawn before each, since that empties the caches before a solution's calls, too, and the least
        time counts: other work on the machine only lengthens one, and too much must never be subtracted. On a GPU the
        device changes between two processes, and the contestant's core wakes up; that varies by tens of microseconds in
        every call, so the median counts.
        """
        draws = [self._match.draw(number) for _ in sets]
        calls: list[Times] = []
        while len(calls) < WARM_UPS + count:
            calls.append(self._match.call(sets, draws, copies_all, START_SECONDS, n_goes)[0])
            if self._match.memory.flush:
                time.sleep(pause_s)
            else:
                draws = [self._match.draw(number) for _ in sets]
        return calls[WARM_UPS:]
