"""Callers that wait for runs to end. One thread asks the database for all of them, so a hundred cost one query."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager

from django.db import Error, connection

from leaderboard.models import PmppRun
from leaderboard.models.submissions.pmpp import ENDED_RUNS

LOOK_SECONDS = 0.25

logger = logging.getLogger(__name__)


class Full(Exception):
    """The maximum number of callers wait already."""


def ended_runs(run_ids: Collection[int]) -> dict[int, PmppRun]:
    """The runs that have ended, by id. One query."""
    rows = PmppRun.objects.filter(pk__in=run_ids, state__in=ENDED_RUNS).select_related("token__user", "token__release")
    return {run.pk: run for run in rows}


class Waiting:
    """The callers of this process. `places` bounds them; `look` is asked for the ended ones of several runs."""

    def __init__(
        self,
        places: int,
        look: Callable[[Collection[int]], Mapping[int, PmppRun]] = ended_runs,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._places = places
        self._look = look
        self._look_seconds = look_seconds
        self._changed = threading.Condition()
        self._n_taken = 0
        self._waiting: dict[int, int] = {}
        """Run id → its number of callers."""
        self._ended: dict[int, PmppRun] = {}
        self._thread: threading.Thread | None = None

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold one of the places. Raises Full."""
        with self._changed:
            if self._n_taken >= self._places:
                raise Full
            self._n_taken += 1
        try:
            yield
        finally:
            with self._changed:
                self._n_taken -= 1

    def wait(self, run_id: int, seconds: float) -> PmppRun | None:
        """The run once it has ended, or None after `seconds`. Holds no database connection meanwhile."""
        if not connection.in_atomic_block:
            connection.close()
        with self._changed:
            self._waiting[run_id] = self._waiting.get(run_id, 0) + 1
            self._start()
            self._changed.notify_all()
            try:
                self._changed.wait_for(lambda: run_id in self._ended, max(0.0, seconds))
                return self._ended.get(run_id)
            finally:
                self._leave(run_id)

    def _leave(self, run_id: int) -> None:
        self._waiting[run_id] -= 1
        if not self._waiting[run_id]:
            del self._waiting[run_id]
            self._ended.pop(run_id, None)

    def _start(self) -> None:
        if self._thread is None or not self._thread.is_alive():  # not before the first caller: a server may fork
            self._thread = threading.Thread(target=self._look_for_ever, name="pmpp-waiting", daemon=True)
            self._thread.start()

    def _look_for_ever(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting.keys() - self._ended.keys()))
                wanted = self._waiting.keys() - self._ended.keys()
            self._look_once(wanted)
            time.sleep(self._look_seconds)

    def _look_once(self, wanted: Collection[int]) -> None:
        try:
            found = self._look(wanted)
        except Error as error:
            logger.warning("the runs that callers wait for cannot be read: %s", type(error).__name__)
            connection.close()
            return
        with self._changed:
            self._ended |= {run_id: run for run_id, run in found.items() if run_id in self._waiting}
            if found:
                self._changed.notify_all()
