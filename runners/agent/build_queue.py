"""Build slots for the waiting build that is expected to take longest, as learned from others; some go by arrival.

A long build that starts last runs on alone while the other slots are empty.
"""

import math
import time
from collections import OrderedDict, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition

Kinds = tuple[Hashable, ...]
"""What is known of a build beforehand, the most precise first; builds that are equal in one of these take alike."""

UNNAMED: Kinds = ("",)
OVERDUE_SECONDS = 60.0
"""A build that has waited for longer comes before all that have not, the oldest first."""
BY_ARRIVAL = 1 / 4
"""This share of the slots, rounded up, goes by arrival: short builds, whose runs keep a GPU busy, go on meanwhile."""
REMEMBERED_KINDS = 4096
MEAN_OVER = 32
"""After so many builds of a kind, older ones count less and less: compilers, caches and neighbours change."""


@dataclass(eq=False)
class Turn:
    """One build's, from its arrival until it leaves; times are seconds of one clock."""

    kinds: Kinds
    arrived: float
    slot: int | None = None
    by_arrival: bool = False
    began: float | None = None


class Durations:
    """How long builds of each kind take; of `size` kinds at most, those of which one ended last."""

    def __init__(self, size: int = REMEMBERED_KINDS) -> None:
        self._size = size
        self._ended: OrderedDict[Hashable, tuple[int, float]] = OrderedDict()

    def add(self, kinds: Kinds, seconds: float) -> None:
        for kind in kinds:
            n, mean = self._ended.pop(kind, (0, 0.0))
            n = min(n + 1, MEAN_OVER)
            self._ended[kind] = n, mean + (seconds - mean) / n
            if len(self._ended) > self._size:
                self._ended.popitem(last=False)

    def expected(self, kinds: Kinds, running: Mapping[Hashable, Sequence[float]]) -> float:
        """Seconds that such a build takes; infinite where none has started.

        `running` has the seconds for which each running build of a kind has run so far. The most precise kind of
        which a build has ended decides, but running ones raise what more precise kinds say too.
        """
        estimates = []
        for kind in kinds:
            n, mean = self._ended.get(kind, (0, 0.0))
            so_far = running.get(kind, ())
            if n or so_far:
                # All seconds spent on the kind, as though one more build ended now: many that run on tell of a long
                # kind before any has ended.
                estimates.append(max(mean, (n * mean + sum(so_far)) / (n + 1), *so_far))
            if n:
                break
        return max(estimates, default=math.inf)


class BuildOrder:
    """Who gets which slot, without threads and without a clock of its own: `now` is in seconds, never going back."""

    def __init__(self, slots: Sequence[int]) -> None:
        self._most_by_length = len(slots) - math.ceil(len(slots) * BY_ARRIVAL)
        self._free = list(reversed(slots))
        self._waiting: list[Turn] = []
        self._holding: list[Turn] = []
        self._durations = Durations()

    def arrive(self, kinds: Kinds, now: float) -> Turn:
        turn = Turn(kinds, now)
        self._waiting.append(turn)
        return turn

    def hand_out(self, now: float) -> list[Turn]:
        """Give away all free slots that are wanted; the turns that got one, in this order."""
        given = []
        while self._free and self._waiting:
            turn = self._next(now)
            self._waiting.remove(turn)
            self._holding.append(turn)
            turn.slot = self._free.pop()
            given.append(turn)
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

    def _next(self, now: float) -> Turn:
        oldest = self._waiting[0]
        by_length = sum(not turn.by_arrival for turn in self._holding)
        if by_length >= self._most_by_length or now - oldest.arrived > OVERDUE_SECONDS:
            oldest.by_arrival = True
            return oldest
        running = self._running(now)
        # Of equals max takes the first, which arrived first.
        return max(self._waiting, key=lambda turn: self._durations.expected(turn.kinds, running))

    def _running(self, now: float) -> Mapping[Hashable, Sequence[float]]:
        seconds: dict[Hashable, list[float]] = defaultdict(list)
        for turn in self._holding:
            if turn.began is not None:
                for kind in turn.kinds:
                    seconds[kind].append(now - turn.began)
        return seconds


class BuildQueue:
    """Build slots for threads, each slot used by one at a time."""

    def __init__(self, slots: Sequence[int]) -> None:
        self._order = BuildOrder(slots)
        self._changed = Condition()

    @contextmanager
    def taken(self, kinds: Kinds = UNNAMED) -> Iterator[Turn]:
        """Waits for a turn, and yields it with its slot."""
        with self._changed:
            turn = self._order.arrive(kinds, time.monotonic())
            self._hand_out()
        try:
            with self._changed:
                self._changed.wait_for(lambda: turn.slot is not None)
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

    def _hand_out(self) -> None:
        if self._order.hand_out(time.monotonic()):
            self._changed.notify_all()
