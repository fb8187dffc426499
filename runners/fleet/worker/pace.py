"""Paces the ranking of boards: a large one that changes all the time takes a tenth of a core and no more."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SHARE = 0.1
"""The most of this process's time that the rankings of one board take."""


class Pace:
    """Pauses after each step of a key, in proportion to its time. A step after a quiet time waits for nothing."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._next: dict[int, float] = {}

    def is_due(self, key: int) -> bool:
        with self._guard:
            return time.monotonic() >= self._next.get(key, 0.0)

    @contextmanager
    def step(self, key: int) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            ended = time.monotonic()
            with self._guard:
                self._next[key] = ended + (ended - began) * (1 / SHARE - 1)


RANKINGS = Pace()
