"""The calls of a case on a GPU, each with fresh data, timed by the device, and checked afterwards.

The first is made without a hand-off and not timed: a solution may compile, load and choose in it. The others are
queued behind the checker's word. A solution that needs the host in the middle of its calls, or whose work does not wait
for the word, is timed by the host's clock.
"""

import statistics
import time
from collections.abc import Sequence
from typing import Any

from .buffers import Buffers
from .case import Calls
from .clock import Times
from .match import Match
from .orders import CaseReply, Complaint, DeviceFacts
from .plan import DeviceCost, Plan

LEAST_CALLS = 3
"""Least number of timed calls, however long they take."""
MOST_EXCEPTIONS = 10
"""Calls, or fewer, of which one may be queued too late."""
KNOWN_SHARE, KNOWN_SLACK_NS = 0.05, 60_000.0
"""How much longer the checker's own work before the word may take than on an idle device. A kernel that watches the
inputs lengthens it by 0.2 ms and more."""


class DeviceCase(Calls):
    """A case on a GPU. `on_host`: a process of this solution or of its baseline has shown that it needs the host."""

    def __init__(
        self, match: Match, sets: Sequence[Buffers], number: int, plan: Plan, cost: DeviceCost, *, on_host: bool
    ) -> None:
        super().__init__(match, sets, number, plan)
        self._cost = cost
        self._on_host = on_host
        self._word_last = False
        """Whether the solution's work is too long for the device, or of a kind, to change processes only after it."""
        self._why_host = ""
        self._times: list[Times] = []
        """Times of the calls that count."""
        self._n_calls = self._n_handed = self._n_unqueued = self._n_disturbed = 0
        reference_ns = max(cost.reference_ns, 1.0)
        self._wanted = max(
            min(LEAST_CALLS, plan.most_calls), min(plan.most_calls, int(plan.enough_seconds * 1e9 / reference_ns))
        )

    def run(self, first: Any) -> CaseReply:
        began = time.monotonic()
        complaint = self._by_host(first, [])
        for _ in range(self.plan.warm_ups - 1):
            complaint = complaint or self._call([])
        while complaint is None and not self._is_enough(time.monotonic() - began):
            complaint = self._call(self._times)
        return self._told(complaint)

    def _call(self, to: list[Times]) -> Complaint | None:
        (drawn,) = self.drawn(1)
        if self._on_host:
            return self._by_host(drawn, to)
        complaint = self._handed_off(drawn, to)
        if complaint is not None and not self._word_last:
            self._word_last = True
            self._times.clear()
            return None
        if complaint is not None:
            self._move_to_host("its work does not wait for the checker's word")
            return None
        if self._n_unqueued > max(1, self._wanted // MOST_EXCEPTIONS):
            self._move_to_host("its work was not queued in time")
        return None

    def _move_to_host(self, why: str) -> None:
        """Begin anew by the host's clock. A wrong answer must be right there."""
        self._on_host, self._why_host = True, why
        self._times.clear()

    def _by_host(self, drawn: Any, to: list[Times]) -> Complaint | None:
        self._n_calls += 1
        return self.called([drawn], to, lambda left: self.match.call(self.sets, [drawn], False, left))

    def _handed_off(self, drawn: Any, to: list[Times]) -> Complaint | None:
        self._n_calls += 1
        self._n_handed += 1
        seen: list[Times] = []
        complaint = self.called(
            [drawn], seen, lambda left: self.match.hand_off(self.sets[0], drawn, left, word_last=self._word_last)
        )
        (times,) = seen
        is_disturbed = times.known_ns > (1 + KNOWN_SHARE) * self._cost.known_ns + KNOWN_SLACK_NS
        self._n_unqueued += not times.is_queued
        self._n_disturbed += is_disturbed
        if times.is_queued and not is_disturbed:
            to.append(times)
        return complaint

    def _is_enough(self, spent_seconds: float) -> bool:
        """The solution decides nothing but that a slow one is called less often."""
        if len(self._times) >= self._wanted:
            return True
        is_long = spent_seconds > self.plan.longest_seconds
        is_vain = not self._on_host and self._n_handed > 2 * self._wanted + self.plan.warm_ups
        return (is_long and len(self._times) >= LEAST_CALLS) or is_vain

    def _told(self, complaint: Complaint | None) -> CaseReply:
        costs_ns = self._cost.hosts_ns if self._on_host else self._cost.clocks_ns
        copies_ns = [one.wide_ns - one.clock_ns for one in self._times if not self._on_host]
        return self.reply(
            self._times,
            complaint=complaint,
            go_ns=[one.queue_ns or one.go_ns for one in self._times],
            overhead_ns=statistics.fmean(costs_ns),
            is_short=False,
            n_calls=self._n_calls,
            device=DeviceFacts(
                clock="host" if self._on_host else "device",
                overheads_ns=list(costs_ns),
                n_handed=self._n_handed,
                n_disturbed=self._n_disturbed,
                why_host=self._why_host,
                late_copies_ns=statistics.median(copies_ns) - self._cost.copies_ns if copies_ns else 0.0,
                copies_ns=self._cost.copies_ns,
            ),
        )
