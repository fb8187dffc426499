"""`manage.py site_worker`: the site's clock. Ranks what changed and sweeps lost leases until it is stopped."""

import logging
import signal
import threading
import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import DatabaseError, close_old_connections

from leaderboard.actions.rank import rank_touched
from runners.fleet.sweep import sweep

logger = logging.getLogger("podium.site_worker")
SWEEP_SECONDS = 5.0


class Command(BaseCommand):
    help = "Rank touched tracks every few seconds and sweep expired leases. Each step is harmless when done twice."

    def handle(self, *_: Any, **__: Any) -> None:
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        next_sweep = 0.0
        while not stopped.is_set():
            close_old_connections()
            if time.monotonic() >= next_sweep:
                _attempt("sweep", sweep)
                next_sweep = time.monotonic() + SWEEP_SECONDS
            _attempt("rank", rank_touched)
            stopped.wait(settings.RANKING_INTERVAL_SECONDS)


def _attempt(name: str, step: Any) -> None:
    """A database that is away for a while must not end the clock; the next tick tries again."""
    try:
        step()
    except DatabaseError:
        logger.exception("%s failed; trying again at the next tick", name)
