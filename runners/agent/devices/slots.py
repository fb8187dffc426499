"""Numbered slots, first come, first served, but for those who come back for more."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition, Event, Lock

from runners.agent.ground.locks import wait_until


@dataclass(eq=False)
class _Turn:
    given: Condition
    """Wakes this thread alone: dozens wait while samples are short."""
    slot: int | None = None


class Slots:
    """Each slot is used by one thread at a time."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._free = list(reversed(numbers))
        self._waiting: deque[_Turn] = deque()
        self._lock = Lock()

    @contextmanager
    def taken(self, cancelled: Event | None = None, *, first: bool = False) -> Iterator[int]:
        """Wait for a slot, with `first` before all others that wait, and hold it.

        Raises Cancelled if `cancelled` is set during the wait.
        """
        turn = _Turn(Condition(self._lock))
        with self._lock:
            self._waiting.insert(0 if first else len(self._waiting), turn)
            self._hand_out()
            try:
                wait_until(turn.given, lambda: turn.slot is not None, cancelled)
            except BaseException:
                self._leave(turn)
                raise
        assert turn.slot is not None
        try:
            yield turn.slot
        finally:
            with self._lock:
                self._leave(turn)

    def _leave(self, turn: _Turn) -> None:
        if turn.slot is None:
            self._waiting.remove(turn)
        else:
            self._free.append(turn.slot)
        self._hand_out()

    def _hand_out(self) -> None:
        while self._free and self._waiting:
            turn = self._waiting.popleft()
            turn.slot = self._free.pop()
            turn.given.notify()
