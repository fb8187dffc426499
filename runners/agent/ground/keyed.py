"""Locks and memory by key, for work that several threads need but only one should do."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import Generic, TypeVar

from runners.agent.ground.errors import Cancelled
from runners.agent.ground.locks import LOOK_SECONDS

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class KeyedLocks(Generic[K]):
    """One lock per key, kept while a thread holds it or waits for it."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._locks: dict[K, tuple[Lock, int]] = {}

    @contextmanager
    def hold(self, key: K, cancelled: Event | None = None) -> Iterator[None]:
        """Hold the key's lock. Raises Cancelled if `cancelled` is set before the lock is free."""
        with self._guard:
            lock, users = self._locks.get(key, (Lock(), 0))
            self._locks[key] = (lock, users + 1)
        try:
            _acquire(lock, cancelled)
            try:
                yield
            finally:
                lock.release()
        finally:
            self._let_go(key)

    def _let_go(self, key: K) -> None:
        with self._guard:
            lock, users = self._locks[key]
            if users == 1:
                del self._locks[key]
            else:
                self._locks[key] = (lock, users - 1)


def _acquire(lock: Lock, cancelled: Event | None) -> None:
    if cancelled is None:
        lock.acquire()
        return
    while not lock.acquire(timeout=LOOK_SECONDS):
        if cancelled.is_set():
            raise Cancelled


class Once(Generic[K, V]):
    """Remembers the latest `size` values. If several threads ask for a key, one makes the value and the others wait.

    An exception is not remembered: the next waiting thread tries again.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[K, V] = OrderedDict()
        self._guard = Lock()
        self._making: KeyedLocks[K] = KeyedLocks()

    def get(self, key: K, make: Callable[[], V], cancelled: Event | None = None) -> V:
        """The key's value. Raises Cancelled if `cancelled` is set during the wait, and the exceptions of `make`."""
        with self._making.hold(key, cancelled):
            with self._guard:
                if key in self._values:
                    self._values.move_to_end(key)
                    return self._values[key]
            value = make()
            with self._guard:
                self._values[key] = value
                self._values.move_to_end(key)
                if len(self._values) > self._size:
                    self._values.popitem(last=False)
            return value

    def known(self, key: K) -> V | None:
        """The key's value; None if no thread has made it yet."""
        with self._guard:
            return self._values.get(key)

    def forget(self, key: K, value: V) -> None:
        """Forget the key's value, unless another one has taken its place."""
        with self._guard:
            if self._values.get(key) is value:
                del self._values[key]
