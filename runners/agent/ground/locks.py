"""Locks for a device and by key: many readers or one writer, one tenant at a time, work that only one thread does."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Condition, Event, Lock
from typing import Generic, TypeVar

from runners.agent.ground.errors import Cancelled

LOOK_SECONDS = 0.25
"""Interval at which a waiting thread checks whether it was cancelled."""


def wait_until(changed: Condition, is_met: Callable[[], bool], cancelled: Event | None) -> None:
    """Wait on the held condition until `is_met`. Raises Cancelled if `cancelled` is set; the caller must clean up."""
    while not is_met():
        if cancelled is not None and cancelled.is_set():
            raise Cancelled
        changed.wait(None if cancelled is None else LOOK_SECONDS)


@dataclass(eq=False)
class _Ticket:
    exclusive: bool
    since: float
    called: bool = False
    """Whether this reader belongs to the batch that enters next."""


class FairLock:
    """Many readers or one writer; no thread starves.

    Writers pass readers that have waited less than `readers_wait_seconds`. After that, all waiting readers enter in one
    batch. Readers pass writers that have waited less than `writers_wait_seconds`. A writer needs the place empty, so it
    is best to let several writers enter in a row, seldom.
    """

    def __init__(
        self,
        readers_wait_seconds: float = 0.0,
        writers_wait_seconds: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._readers_wait_seconds = readers_wait_seconds
        self._writers_wait_seconds = writers_wait_seconds
        self._clock = clock
        self._changed = Condition()
        self._queue: list[_Ticket] = []
        self._readers = 0
        self._writing = False

    @contextmanager
    def shared(self, cancelled: Event | None = None) -> Iterator[None]:
        """Enter as a reader. Raises Cancelled if `cancelled` is set during the wait."""
        self._enter(exclusive=False, cancelled=cancelled)
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def exclusive(self, cancelled: Event | None = None, *, first: bool = False) -> Iterator[None]:
        """Enter as the only writer, with `first` before all that wait. Raises as `shared`."""
        self._enter(exclusive=True, cancelled=cancelled, first=first)
        try:
            yield
        finally:
            self._leave()

    def _enter(self, *, exclusive: bool, cancelled: Event | None, first: bool = False) -> None:
        ticket = _Ticket(exclusive, self._clock())
        with self._changed:
            self._queue.insert(0 if first else len(self._queue), ticket)
            self._call_readers()
            try:
                wait_until(self._changed, partial(self._may_enter, ticket), cancelled)
            except BaseException:
                self._queue.remove(ticket)
                self._call_readers()
                self._changed.notify_all()
                raise
            self._queue.remove(ticket)
            self._writing = exclusive
            self._readers += not exclusive
            self._changed.notify_all()

    def _may_enter(self, ticket: _Ticket) -> bool:
        if self._writing:
            return False
        if not ticket.exclusive:
            return ticket.called
        others_first = any(one.called for one in self._queue)
        return self._readers == 0 and not others_first and next(one for one in self._queue if one.exclusive) is ticket

    def _leave(self) -> None:
        with self._changed:
            was_writing, self._writing = self._writing, False
            self._readers -= not was_writing
            self._call_readers(after_writer=was_writing)
            self._changed.notify_all()

    def _call_readers(self, *, after_writer: bool = False) -> None:
        """Let all waiting readers enter if no writer waits, or after a writer if they have waited long enough."""
        readers = [ticket for ticket in self._queue if not ticket.exclusive]
        if self._writing or not readers:
            return
        now = self._clock()
        writers_since = [ticket.since for ticket in self._queue if ticket.exclusive]
        patient = bool(writers_since) and now - min(writers_since) < self._writers_wait_seconds
        passed = not writers_since or (self._readers > 0 and patient)
        overdue = now - readers[0].since >= self._readers_wait_seconds
        if passed or (after_writer and overdue):
            for ticket in readers:
                ticket.called = True


class Tenancy:
    """Lets one tenant at a time use a device, with any number of users. `clean` runs before the tenant changes.

    For `turn_seconds` after it entered, a tenant's new users go before other tenants, so that two tenants do not change
    places at every command. After that its new users wait, too.
    """

    def __init__(self, clean: Callable[[], None], turn_seconds: float = 20.0) -> None:
        self._clean = clean
        self._turn_seconds = turn_seconds
        self._changed = Condition()
        self._queue: deque[tuple[object, str]] = deque()
        self._tenant: str | None = None
        self._users = 0
        self._cleaning = False
        self._since = 0.0

    @contextmanager
    def of(self, tenant: str, cancelled: Event | None = None) -> Iterator[None]:
        """Use the device as `tenant`. Raises Cancelled as `FairLock.shared`.

        If `clean` raises, this raises the same, and the device has no tenant.
        """
        self._move_in(tenant, cancelled)
        try:
            yield
        finally:
            with self._changed:
                self._users -= 1
                self._changed.notify_all()

    def _move_in(self, tenant: str, cancelled: Event | None) -> None:
        ticket = (object(), tenant)
        with self._changed:
            self._queue.append(ticket)
            try:
                wait_until(self._changed, partial(self._may_move_in, ticket), cancelled)
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()
            self._users += 1
            if self._tenant == tenant:
                self._changed.notify_all()
                return
            self._tenant, self._cleaning = None, True
        try:
            self._clean()
        except BaseException:
            with self._changed:
                self._users -= 1
                self._cleaning = False
                self._changed.notify_all()
            raise
        with self._changed:
            self._tenant, self._since, self._cleaning = tenant, time.monotonic(), False
            self._changed.notify_all()

    def _may_move_in(self, ticket: tuple[object, str]) -> bool:
        if self._cleaning:
            return False
        at_home = self._tenant == ticket[1]
        first = self._queue[0] is ticket
        if at_home:
            return first or time.monotonic() - self._since < self._turn_seconds or self._all_at_home()
        return self._users == 0 and first

    def _all_at_home(self) -> bool:
        return all(tenant == self._tenant for _, tenant in self._queue)


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
