"""Build slots for the waiting build that is expected to take longest, as learned or guessed; some go by arrival.

A long build that starts last runs on alone while the other slots are empty. A quiet build has half of the slots empty.
"""

import math
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition, Event

from runners.agent.durations import Durations, Guess, Kind, Kinds
from runners.agent.locks import wait_until

UNNAMED: Kinds = ("",)
OVERDUE_SECONDS = 60.0
"""A build that has waited for longer comes before all that have not, the oldest first."""
BY_ARRIVAL = 1 / 4
"""This share of the slots, rounded up, goes by arrival: short builds, whose runs keep a GPU busy, go on meanwhile."""
CROWD_FROM = 4
"""With fewer slots than these builds hardly hinder each other."""
LONG_SHARE = 1 / 2
"""A build is long where it is expected to take this share of what the longest one that waits or runs is."""


@dataclass(eq=False)
class Turn:
    """One build's, from its arrival until it leaves; times are seconds of one clock."""

    kinds: Kinds
    arrived: float
    guess: Guess | None = None
    is_quiet: bool = False
    """At most half of the slots are in use while it waits for the end of others and while it runs."""
    slot: int | None = None
    by_arrival: bool = False
    began: float | None = None
    crowded: bool = False
    """Whether more than half of the slots were in use at some time while it had its own."""
    is_long: bool = False
    """Said with its slot: beside the others that were here then, it had best have the cores first."""


class BuildOrder:
    """Who gets which slot, without threads and without a clock of its own: `now` is in seconds, never going back."""

    def __init__(self, slots: Sequence[int], durations: Durations | None = None) -> None:
        self._n_slots = len(slots)
        self._free = list(reversed(slots))
        self._waiting: list[Turn] = []
        self._holding: list[Turn] = []
        self._durations = durations or Durations()

    def arrive(self, kinds: Kinds, now: float, guess: Guess | None = None, *, is_quiet: bool = False) -> Turn:
        turn = Turn(kinds, now, guess, is_quiet)
        self._waiting.append(turn)
        return turn

    def hand_out(self, now: float) -> list[Turn]:
        """Give away all free slots that are wanted and may be used; the turns that got one, in this order."""
        given = []
        while self._waiting and len(self._holding) < self._usable:
            turn = self._next(now)
            self._waiting.remove(turn)
            self._holding.append(turn)
            turn.slot = self._free.pop()
            given.append(turn)
        if given:
            self._tell_long_ones(given, now)
        if self._n_slots >= CROWD_FROM and len(self._holding) > self._half:
            for turn in self._holding:
                turn.crowded = True
        return given

    def begin(self, turn: Turn, now: float) -> None:
        """Its time counts from here."""
        turn.began = now

    def end(self, turn: Turn, now: float) -> None:
        """It ran to its end after `begin`: others of its kinds are expected to take as long."""
        if turn.began is not None:
            self._durations.add(turn.kinds, now - turn.began)

    def leave(self, turn: Turn) -> None:
        """It gives its slot back or waits no more, whether it ended or not."""
        if turn.slot is None:
            self._waiting.remove(turn)
        else:
            self._holding.remove(turn)
            self._free.append(turn.slot)

    @property
    def n_waiting(self) -> int:
        return len(self._waiting)

    @property
    def _half(self) -> int:
        return max(1, self._n_slots // 2)

    @property
    def _usable(self) -> int:
        """How many slots may be in use now."""
        return self._half if any(turn.is_quiet for turn in (*self._waiting, *self._holding)) else self._n_slots

    def _next(self, now: float) -> Turn:
        most = self._usable - math.ceil(self._usable * BY_ARRIVAL)
        quiet = [turn for turn in self._waiting if turn.is_quiet]
        others = [turn for turn in self._waiting if not turn.is_quiet]
        # Quiet ones come first, but leave to others what goes by arrival.
        if quiet and (not others or sum(turn.is_quiet for turn in self._holding) < max(1, most)):
            return quiet[0]
        oldest = others[0]
        by_length = sum(not turn.by_arrival for turn in self._holding)
        if by_length >= most or now - oldest.arrived > OVERDUE_SECONDS:
            oldest.by_arrival = True
            return oldest
        expected = self._expected(others, now)
        # Of equals max takes the first, which arrived first.
        return max(others, key=expected.__getitem__)

    def _tell_long_ones(self, given: Sequence[Turn], now: float) -> None:
        """Those of which nothing is known are not, and say nothing of others."""
        expected = self._expected((*self._waiting, *self._holding), now)
        longest = max(filter(math.isfinite, expected.values()), default=0.0)
        for turn in given:
            turn.is_long = 0.0 < expected[turn] < math.inf and expected[turn] >= LONG_SHARE * longest
            # A long one that found a slot free takes it up for long, whatever came of the order.
            turn.by_arrival &= not turn.is_long

    def _expected(self, turns: Sequence[Turn], now: float) -> dict[Turn, float]:
        """Seconds that each takes, waits not counted; infinite where nothing is known."""
        running = self._running(now)
        return {turn: self._durations.expected(turn.kinds, running, turn.guess) for turn in turns}

    def _running(self, now: float) -> Mapping[Kind, Sequence[float]]:
        seconds: dict[Kind, list[float]] = defaultdict(list)
        for turn in self._holding:
            if turn.began is not None:
                for kind in turn.kinds:
                    seconds[kind].append(now - turn.began)
        return seconds


class BuildQueue:
    """Build slots for threads, each slot used by one at a time."""

    def __init__(self, slots: Sequence[int], durations: Durations | None = None) -> None:
        self._durations = durations or Durations()
        self._order = BuildOrder(slots, self._durations)
        self._held = False
        self._changed = Condition()

    @property
    def n_waiting(self) -> int:
        return self._order.n_waiting

    def hold(self, held: bool) -> None:
        """Hand out nothing while held, so that of those that come about together the longest gets a slot first."""
        with self._changed:
            self._held = held
            self._hand_out()

    @contextmanager
    def taken(
        self,
        kinds: Kinds = UNNAMED,
        guess: Guess | None = None,
        *,
        is_quiet: bool = False,
        cancelled: Event | None = None,
    ) -> Iterator[Turn]:
        """Waits for a turn, and yields it with its slot. Raises Cancelled where that is set before."""
        with self._changed:
            turn = self._order.arrive(kinds, time.monotonic(), guess, is_quiet=is_quiet)
            self._hand_out()
        try:
            with self._changed:
                wait_until(self._changed, lambda: turn.slot is not None, cancelled)
            yield turn
        finally:
            with self._changed:
                self._order.leave(turn)
                self._hand_out()

    @contextmanager
    def timed(self, turn: Turn) -> Iterator[None]:
        """How long its kinds take is learned from this; not where it raises, as what is cancelled does."""
        with self._changed:
            self._order.begin(turn, time.monotonic())
        yield
        with self._changed:
            self._order.end(turn, time.monotonic())
        self._durations.write_when_due()

    def _hand_out(self) -> None:
        if not self._held and self._order.hand_out(time.monotonic()):
            self._changed.notify_all()
