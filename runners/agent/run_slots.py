"""Numbered slots for runs: a free one goes to who has longest to go, for a long run that begins last ends alone."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition, Event

from runners.agent.locks import wait_until

OVERDUE_SECONDS = 60.0
"""Who has waited for longer comes before all who have not, the first come first."""


@dataclass(eq=False)
class _Turn:
    seconds: float
    arrived: float
    slot: int | None = None


class RunSlots:
    """Each slot is used by one thread at a time."""

    def __init__(self, slots: Sequence[int], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._free = list(reversed(slots))
        self._waiting: list[_Turn] = []
        self._held = False
        self._changed = Condition()

    @property
    def n_waiting(self) -> int:
        return len(self._waiting)

    def hold(self, held: bool) -> None:
        """Hand out nothing while held, so that of those that come about together the longest gets a slot first."""
        with self._changed:
            self._held = held
            self._hand_out()

    @contextmanager
    def taken(self, seconds: float, cancelled: Event | None = None) -> Iterator[int]:
        """Waits for a slot. `seconds` are what is expected of all that is to come; infinite where nothing is known.

        Raises Cancelled where that is set before there is one.
        """
        turn = _Turn(seconds, self._clock())
        with self._changed:
            self._waiting.append(turn)
            self._hand_out()
            try:
                wait_until(self._changed, lambda: turn.slot is not None, cancelled)
            except BaseException:
                self._leave(turn)
                raise
        assert turn.slot is not None
        try:
            yield turn.slot
        finally:
            with self._changed:
                self._leave(turn)

    def _leave(self, turn: _Turn) -> None:
        if turn.slot is None:
            self._waiting.remove(turn)
        else:
            self._free.append(turn.slot)
        self._hand_out()

    def _hand_out(self) -> None:
        handed = False
        while self._free and self._waiting and not self._held:
            turn = self._next()
            self._waiting.remove(turn)
            turn.slot = self._free.pop()
            handed = True
        if handed:
            self._changed.notify_all()

    def _next(self) -> _Turn:
        oldest = self._waiting[0]
        if self._clock() - oldest.arrived > OVERDUE_SECONDS:
            return oldest
        # Of equals max takes the first, which arrived first.
        return max(self._waiting, key=lambda turn: turn.seconds)
