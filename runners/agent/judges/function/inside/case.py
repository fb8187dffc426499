"""The calls of a case, each with fresh data, timed by the host's clock, and checked afterwards.

Calls are made in goes. A go of a case with several input sets has one call for each of them. The contestant holds them
all, so each set is also called in a go of its own, which must bear the time out.
"""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from .buffers import Buffers
from .clock import Times
from .match import MOST_WORDS, Match
from .orders import CaseReply, Complaint, Ended, HowEnded, ShownCall
from .plan import Overhead, Plan, deviation

MOST_PLACES = 5
"""Number of wrong elements that a contestant is shown."""
Called = tuple[Times, int, str]
"""The times of a call, the poison of its outputs, and what it did beside them."""


class Calls:
    """Calls of a case: drawn, checked and counted, for both clocks."""

    def __init__(self, match: Match, sets: Sequence[Buffers], number: int, plan: Plan) -> None:
        self.match = match
        self.sets = sets
        self.number = number
        self.plan = plan
        self._prepare_s = self._check_s = 0.0
        self._shown: ShownCall | None = None

    def drawn(self, count: int) -> list[Any]:
        since = time.monotonic()
        draws = [self.match.draw(self.number) for _ in range(count)]
        self._prepare_s += time.monotonic() - since
        return draws

    def called(self, draws: Sequence[Any], to: list[Times], call: Callable[[float], Called]) -> Complaint | None:
        """Call with the seconds that are left, and check; what is wrong, if anything is."""
        left = self.plan.budget_seconds - self.match.spent_seconds
        if left <= 0:
            raise Ended(HowEnded.LATE)
        times, poison, trespass = call(left)
        self.match.spent_seconds += times.go_ns / 1e9
        self._prepare_s += times.prepare_ns / 1e9
        to.append(times)
        if trespass:
            return Complaint(trespass)
        since = time.monotonic()
        pairs = zip(self.sets, draws, strict=True)
        complaints = (self._complaint(place, *one, poison) for place, one in enumerate(pairs, 1))
        complaint = next(filter(None, complaints), None)
        self._check_s += time.monotonic() - since
        return complaint

    def reply(self, timed: Sequence[Times], **own: Any) -> CaseReply:
        """The reply on these calls, with further facts of the clock that timed them."""
        prepare_ms, check_ms = self._prepare_s * 1e3, self._check_s * 1e3
        clock_ns = [one.clock_ns for one in timed]
        return CaseReply(
            self.number, clock_ns=clock_ns, prepare_ms=prepare_ms, check_ms=check_ms, shown=self._shown, **own
        )

    def _complaint(self, place: int, buffers: Buffers, drawn: Any, poison: int) -> Complaint | None:
        is_shown = self.plan.n_shown > 0
        comparison = self.match.compare(self.number, drawn, buffers, poison, measures=is_shown)
        if is_shown and (place == 1 or not comparison.right):
            values = self.match.values_of(drawn, buffers, self.plan.n_shown)
            self._shown = ShownCall(values, number(comparison.largest), number(comparison.mean))
        if comparison.right:
            return None
        where = f"in input set {place} of {len(self.sets)}, " if len(self.sets) > 1 else ""
        complaint = told(comparison)
        return complaint._replace(message=f"{where}{complaint.message}")


class HostCase(Calls):
    """A case on a CPU."""

    def __init__(self, match: Match, sets: Sequence[Buffers], number: int, plan: Plan, overhead: Overhead) -> None:
        super().__init__(match, sets, number, plan)
        self._overhead = overhead
        self._times: list[Times] = []
        self._singles: list[Times] = []

    def run(self, first: Any) -> CaseReply:
        began = time.monotonic()
        draws = [first, *self.drawn(len(self.sets) - 1)]
        while True:
            complaint = self._together(draws) or self._singly()
            if complaint is not None or self._is_enough(time.monotonic() - began):
                return self._told(complaint)
            draws = self.drawn(len(self.sets))

    def _together(self, draws: Sequence[Any]) -> Complaint | None:
        """A go of all sets."""
        return self._called(draws, self._times, copies_all=False)

    def _singly(self) -> Complaint | None:
        """A go of each set by itself, in a case that has several: nothing of its inputs is there before the clock."""
        if len(self.sets) == 1 or len(self._singles) == self.plan.warm_ups + self.plan.least_calls:
            return None
        return self._called(self.drawn(len(self.sets)), self._singles, copies_all=True, n_goes=len(self.sets))

    def _called(self, draws: Sequence[Any], to: list[Times], *, copies_all: bool, n_goes: int = 1) -> Complaint | None:
        return self.called(draws, to, lambda left: self.match.call(self.sets, draws, copies_all, left, n_goes))

    def _is_enough(self, spent_seconds: float) -> bool:
        timed = self._times[self.plan.warm_ups :]
        if len(timed) >= self.plan.most_calls:
            return True
        if spent_seconds > self.plan.longest_seconds and len(timed) >= min(3, self.plan.least_calls):
            return True
        if len(timed) < self.plan.least_calls:
            return False
        clocks_ns = [one.clock_ns for one in timed]
        if self.plan.precision > 0:
            is_precise = deviation([one - self._overhead.call_ns for one in clocks_ns]) <= self.plan.precision
            return is_precise or spent_seconds >= self.plan.enough_seconds
        return sum(clocks_ns) / 1e9 >= self.plan.enough_seconds

    def _told(self, complaint: Complaint | None) -> CaseReply:
        timed = self._times[self.plan.warm_ups :]
        reply = self.reply(
            timed,
            complaint=complaint,
            go_ns=[one.go_ns for one in timed],
            overhead_ns=self._overhead.call_ns,
            overhead_spread_ns=self._overhead.spread_ns,
            is_short=self._overhead.is_short,
            n_calls=len(self._times + self._singles) * len(self.sets),
        )
        if len(self._singles) <= self.plan.warm_ups:
            return reply
        return reply._replace(one_set_ns=self._one_set_ns(), one_set_spread_ns=self._overhead.single_spread_ns)

    def _one_set_ns(self) -> float:
        """The time of a call with one set: the first decile, because other work on the machine only lengthens it."""
        singles_ns = sorted(ns for one in self._singles[self.plan.warm_ups :] for ns in one.each_ns[1:])
        return singles_ns[len(singles_ns) // 10] - self._overhead.single_ns


def number(value: Any) -> float | str:
    """The number, or its word where JSON has none for it."""
    return float(value) if math.isfinite(value) else str(float(value))


def told(comparison: Any) -> Complaint:
    """A comparison that failed, as plain values; numbers that JSON cannot hold become words."""
    first = [
        (str(output), list(map(int, index)), str(want), str(got)) for output, index, want, got in comparison.first_wrong
    ]
    message, largest, mean = str(comparison.message)[:MOST_WORDS], number(comparison.largest), number(comparison.mean)
    return Complaint(message, largest, mean, int(comparison.n_wrong), int(comparison.n_total), first[:MOST_PLACES])
