"""Locks that a device's users share: many readers or one writer, and one tenant at a time."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition, Event

from runners.agent.errors import Cancelled

LOOK_SECONDS = 0.25
"""How often whoever waits looks whether it is still wanted."""


def wait_until(changed: Condition, is_met: Callable[[], bool], cancelled: Event | None) -> None:
    """Wait, within the condition, as long as that is wanted. Raises Cancelled, with nothing undone."""
    while not is_met():
        if cancelled is not None and cancelled.is_set():
            raise Cancelled
        changed.wait(None if cancelled is None else LOOK_SECONDS)


@dataclass(eq=False)
class _Ticket:
    exclusive: bool
    since: float
    called: bool = False
    """A reader of the batch that enters next."""


class FairLock:
    """Many readers or one writer; nobody starves.

    Writers pass readers that have not waited for `readers_wait_seconds` yet; then all who wait to read enter in one
    batch. Readers pass writers that have not waited
    for `writers_wait_seconds` yet: a writer empties the place, so it is best done seldom, for several in a row.
    """

    def __init__(self, readers_wait_seconds: float = 0.0, writers_wait_seconds: float = 0.0) -> None:
        self._readers_wait_seconds = readers_wait_seconds
        self._writers_wait_seconds = writers_wait_seconds
        self._changed = Condition()
        self._queue: list[_Ticket] = []
        self._readers = 0
        self._writing = False

    @contextmanager
    def shared(self, cancelled: Event | None = None) -> Iterator[None]:
        """Raises Cancelled where that is set before it has entered."""
        self._enter(exclusive=False, cancelled=cancelled)
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def exclusive(self, cancelled: Event | None = None) -> Iterator[None]:
        """As `shared`."""
        self._enter(exclusive=True, cancelled=cancelled)
        try:
            yield
        finally:
            self._leave()

    @property
    def is_wanted(self) -> bool:
        """Whether anybody waits."""
        with self._changed:
            return bool(self._queue)

    def _enter(self, *, exclusive: bool, cancelled: Event | None) -> None:
        ticket = _Ticket(exclusive, time.monotonic())
        with self._changed:
            self._queue.append(ticket)
            self._call_readers()
            try:
                wait_until(self._changed, lambda: self._may_enter(ticket), cancelled)
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
        """Let all who wait to read enter where no writer waits, or after one once they have waited long enough."""
        readers = [ticket for ticket in self._queue if not ticket.exclusive]
        if self._writing or not readers:
            return
        now = time.monotonic()
        writer = next((ticket for ticket in self._queue if ticket.exclusive), None)
        passed = writer is None or (self._readers > 0 and now - writer.since < self._writers_wait_seconds)
        overdue = now - readers[0].since >= self._readers_wait_seconds
        if passed or (after_writer and overdue):
            for ticket in readers:
                ticket.called = True


class Tenancy:
    """One tenant at a time uses a device, however many its users; `clean` runs before another moves in.

    A tenant may keep others waiting for `turn_seconds` after it moved in, so that two do not change places at every
    command; then its newcomers wait too.
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
        """Raises what `clean` raises; the device then belongs to nobody. Raises Cancelled as `FairLock.shared`."""
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
                wait_until(self._changed, lambda: self._may_move_in(ticket), cancelled)
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
