"""Signs of life of the site's worker, kept as rows: `worker` is its process, `tasks` are its periodic tasks.

A thread notes the process's, and whether the broker lets it in: without the broker no periodic task runs.
"""

import logging
import threading
import time
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from celery import Celery
from celery.signals import worker_init
from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone

from leaderboard.celery import app as site_app
from runners.fleet.models import Pulse
from runners.fleet.worker.broker_faults import keep_of_broker
from runners.wire.broker import Rarely, refusal

PULSE_SECONDS = 10.0
TASKS_SECONDS = 5.0
LATE = timedelta(seconds=45)
"""Longest time between two signs of life; after it the part is down."""

logger = logging.getLogger(__name__)
_rarely = Rarely()


class Part(StrEnum):
    WORKER = "worker"
    TASKS = "tasks"


def note(part: Part) -> None:
    """The part is alive now."""
    now = timezone.now()
    if not Pulse.objects.filter(name=part).update(at=now):
        Pulse.objects.bulk_create([Pulse(name=part, at=now)], ignore_conflicts=True)


class _Tasks:
    """Notes the periodic tasks' sign of life now and then, not at each of their turns."""

    def __init__(self) -> None:
        self._noted_at = -TASKS_SECONDS

    def note(self) -> None:
        if time.monotonic() - self._noted_at >= TASKS_SECONDS:
            self._noted_at = time.monotonic()
            note(Part.TASKS)


TASKS = _Tasks()


def last(stored: dict[str, datetime], part: Part) -> tuple[datetime | None, bool]:
    """When the part was last alive, None for never, and whether it still is."""
    at = stored.get(part)
    return at, at is not None and timezone.now() - at < LATE


def beat(app: Celery) -> None:
    """One turn of the thread. An unavailable database ends this turn only."""
    try:
        close_old_connections()
        note(Part.WORKER)
        keep_of_broker(trouble(app))
    except DatabaseError:
        if _rarely.due("database"):
            logger.warning("the worker's sign of life cannot be stored", exc_info=True)
    finally:
        connection.close()


def trouble(app: Celery) -> str:
    """The reason why the broker does not let the site in, in words; "" if it does."""
    broker = app.connection_for_write()
    try:
        broker.connect()
    except (*broker.connection_errors, *broker.channel_errors) as error:
        return refusal(error)
    finally:
        broker.release()
    return ""


@worker_init.connect
def _start(sender: Any, **_: Any) -> None:
    """In a worker's process, before it has reached the broker."""
    if sender.app is site_app:
        threading.Thread(target=_run, args=(sender.app,), name="pulse", daemon=True).start()


def _run(app: Celery) -> None:
    while True:
        beat(app)
        time.sleep(PULSE_SECONDS)
