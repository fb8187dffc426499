"""Work that several threads want at once and that shall be done once."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import Generic, TypeVar

from runners.agent.errors import Cancelled
from runners.agent.locks import LOOK_SECONDS

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class KeyedLocks(Generic[K]):
    """A lock for every key, kept while somebody holds it or waits for it."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._locks: dict[K, tuple[Lock, int]] = {}

    @contextmanager
    def hold(self, key: K, cancelled: Event | None = None) -> Iterator[None]:
        """Raises Cancelled where that is set before the lock is free."""
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
    """Remembers the latest `size` values; a value that several threads ask for is made by one, the others wait.

    An exception is not remembered: whoever waited next tries anew. What is no longer fresh is made again.
    """

    def __init__(self, size: int, is_fresh: Callable[[V], bool] = lambda _: True) -> None:
        self._size = size
        self._is_fresh = is_fresh
        self._values: OrderedDict[K, V] = OrderedDict()
        self._guard = Lock()
        self._making: KeyedLocks[K] = KeyedLocks()

    def get(self, key: K, make: Callable[[], V], cancelled: Event | None = None) -> V:
        """Raises Cancelled where that is set while another makes it, and what `make` raises."""
        with self._making.hold(key, cancelled):
            with self._guard:
                if key in self._values and self._is_fresh(self._values[key]):
                    self._values.move_to_end(key)
                    return self._values[key]
            value = make()
            with self._guard:
                self._values[key] = value
                self._values.move_to_end(key)
                if len(self._values) > self._size:
                    self._values.popitem(last=False)
            return value
