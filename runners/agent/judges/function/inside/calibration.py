"""The cost of a call of a case beside the solution, measured with a contestant whose work is known."""

from collections.abc import Sequence
from typing import Any

from .buffers import Buffers
from .clock import Times
from .match import START_SECONDS, Match, close
from .plan import Overhead, Plan, spread

REFERENCE_CALLS, SHORT_CALLS = 3, 20
"""The reference's calls: at least, and at most while they are short. The first takes three times as long as a later
one."""
COPY_CALLS = 7
"""Calls with which the cost of a go and of copies is calibrated."""
WARM_UPS = Plan().warm_ups
"""Calls before those that count, as many as of a solution."""


class Calibration:
    """Calibrates with the contestant of a match. Raises Ended and DeviceFault."""

    def __init__(self, match: Match) -> None:
        self._match = match

    def overhead(self, number: int, *, is_timed: bool = False) -> Overhead:
        """The cost of a call of this case beside the solution; only that the case is too short, if it is. A case that
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
            idle = self._calibrating(number, sets, COPY_CALLS)
            singly = (
                self._calibrating(number, sets, COPY_CALLS, copies_all=True, n_goes=len(sets)) if len(sets) > 1 else []
            )
            self._match.call_setup(START_SECONDS)
            some = self._calibrating(number, sets, COPY_CALLS)
            self._match.call_setup(START_SECONDS)
        finally:
            close(sets)
        return Overhead(
            (_go_ns(idle),),
            min(one.complete_ns + one.copy_ns for one in some),
            *spread([ns for one in singly for ns in one.each_ns[1:]]),
        )

    def again(self, number: int, known: Overhead) -> Overhead:
        """`known` with one more process's times from go to done."""
        if known.is_short:
            return known
        sets = self._match.sets(number, self._match.draw(number))
        try:
            self._match.give(sets)
            idle = self._calibrating(number, sets, COPY_CALLS)
        finally:
            close(sets)
        return known._replace(goes_ns=(*known.goes_ns, _go_ns(idle)))

    def _reference_ns(self, drawn: Any) -> float:
        """How long the problem's own reference works on a call, in the checker."""
        calls_ns: list[float] = []
        short_ns = self._match.memory.least_reference_ns * SHORT_CALLS
        while len(calls_ns) < REFERENCE_CALLS or (len(calls_ns) < SHORT_CALLS and sum(calls_ns) < short_ns):
            calls_ns.append(self._match.memory.work_ns(lambda: self._match.loaded.answer(drawn)))
        return min(calls_ns)

    def _calibrating(
        self, number: int, sets: Sequence[Buffers], count: int, *, copies_all: bool = False, n_goes: int = 1
    ) -> list[Times]:
        """Calls of a solution whose work is known.

        Data is drawn before each, since that empties the caches before a solution's calls, too, and the least time
        counts: other work on the machine only lengthens one, and too much must never be subtracted.
        """
        calls: list[Times] = []
        while len(calls) < WARM_UPS + count:
            draws = [self._match.draw(number) for _ in sets]
            calls.append(self._match.call(sets, draws, copies_all, START_SECONDS, n_goes)[0])
        return calls[WARM_UPS:]


def _go_ns(idle: Sequence[Times]) -> float:
    return min(one.go_ns for one in idle)
