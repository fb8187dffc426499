"""The scheduler of the site worker: a process of its own, which ends when the worker does."""

import ctypes
import logging
import os
import signal
import sys
from typing import Any

from billiard.process import current_process
from celery.beat import Scheduler
from celery.signals import beat_embedded_init

from runners.wire.broker import Rarely

logger = logging.getLogger(__name__)
RETRY_SECONDS = 2.0
PARENT_CHECK_SECONDS = 5
"""The longest that the scheduler sleeps, and so the longest that it outlives its worker where Linux does not end it."""
_PR_SET_PDEATHSIG = 1


class OfOneWorker(Scheduler):
    """Celery's scheduler in memory. A worker that was killed cannot stop it, so each tick looks for the worker."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.max_interval = PARENT_CHECK_SECONDS
        self.worker_pid: int | None = None
        """None: `celery beat` runs by itself and has no worker to end with."""
        self._rarely = Rarely()

    def tick(self, *args: Any, **kwargs: Any) -> Any:
        if self.worker_pid is not None and os.getppid() != self.worker_pid:
            logger.warning("The worker %d has ended; its scheduler ends too.", self.worker_pid)
            raise SystemExit
        try:
            return super().tick(*args, **kwargs)
        except (*self.connection.connection_errors, *self.connection.channel_errors) as error:
            # Celery would end the scheduler, for good, at the first refusal of its account.
            if self._rarely.due("broker"):
                logger.warning("The scheduler cannot use the broker: %s", error)
            self._heap = None  # the entry whose turn it was is missing there
            return RETRY_SECONDS


@beat_embedded_init.connect
def _end_with_worker(sender: Any, **_: Any) -> None:
    """Runs in the scheduler's process before its first tick, which finds a worker that ended before this."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    sender.scheduler.worker_pid = current_process()._parent_pid  # type: ignore[attr-defined]  # billiard has no types
