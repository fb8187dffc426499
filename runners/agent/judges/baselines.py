"""Shares baselines among samples that are timed within some time of each other."""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Event, Lock
from typing import Generic, TypeVar

from runners.agent.ground.locks import KeyedLocks

SAMPLES = 4
"""The number of samples that may share a `quick` baseline. Each of them pays a quarter of a benchmark for it."""
SECONDS = 120.0
"""Maximum age of a `quick` baseline. Temperature, clock and other users of a device change within minutes."""

Timed = TypeVar("Timed")


@dataclass
class _Kept(Generic[Timed]):
    timed: Timed
    at: float
    n_samples: int = 0


class Baselines(Generic[Timed]):
    """The latest baseline of each key, kept in memory only. A baseline that is `unfit` is not shared, others by as many
    samples as named and for as many seconds."""

    def __init__(
        self,
        unfit: Callable[[Timed], bool] = lambda _: False,
        clock: Callable[[], float] = time.monotonic,
        *,
        samples: float = SAMPLES,
        seconds: float = SECONDS,
    ) -> None:
        self._unfit, self._clock = unfit, clock
        self._samples, self._seconds = samples, seconds
        self._kept: dict[Hashable, _Kept[Timed]] = {}
        self._guard = Lock()
        self._timing: KeyedLocks[Hashable] = KeyedLocks()

    def near(
        self,
        key: Hashable,
        time_it: Callable[[], Timed],
        cancelled: Event | None = None,
        serves: Callable[[Timed], bool] = lambda _: True,
    ) -> Timed:
        """A baseline for one sample: the kept one if it is recent, has shares left and serves this sample, else a new
        one.

        Threads that ask for the same key wait until one of them has timed it. Raises Cancelled if `cancelled` is set
        during the wait, and the exceptions of `time_it`.
        """
        with self._timing.hold(key, cancelled):
            kept = self._near(key)
            if kept is None or not serves(kept.timed):
                kept = self._keep(key, time_it())
            kept.n_samples += 1
            return kept.timed

    def _near(self, key: Hashable) -> _Kept[Timed] | None:
        with self._guard:
            kept = self._kept.get(key)
        return kept if kept is not None and kept.n_samples < self._samples and self._is_recent(kept) else None

    def _keep(self, key: Hashable, timed: Timed) -> _Kept[Timed]:
        made = _Kept(timed, self._clock())
        with self._guard:
            self._kept = {other: kept for other, kept in self._kept.items() if self._is_recent(kept)}
            if not self._unfit(timed):
                self._kept[key] = made
        return made

    def _is_recent(self, kept: _Kept[Timed]) -> bool:
        return self._clock() - kept.at < self._seconds
