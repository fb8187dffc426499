"""The node's end of the doorbell: a Celery worker whose only task wakes the agent."""

import logging
import threading
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from celery import Celery, signals
from celery.exceptions import SecurityWarning

from runners.broker import celery_settings
from runners.doorbell import TASK, queue_name
from runners.protocol import Grant


def make_app(broker_url: str, folder: Path, ring: Callable[[], None]) -> Celery:
    """An app with the task `podium.doorbell(track, stage)`; `folder` serves `filesystem://`."""
    _quieten()
    # Without fixups: where a shell exports DJANGO_SETTINGS_MODULE, Celery would load the site into the node.
    app = Celery("podium-node", set_as_current=False, fixups=[])
    app.conf.update(celery_settings(broker_url, folder), broker_connection_max_retries=None)

    @app.task(name=TASK)
    def doorbell(track: str, stage: str) -> None:  # noqa: ARG001 - the agent asks for all that it may serve
        ring()

    return app


def _quieten() -> None:
    """Logging stays as the program set it up, and what is meant to be so is no warning."""
    signals.setup_logging.connect(_leave_logging_alone)
    # The agent may be root: every command runs as another user, in a sandbox.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    # Every ring and a greeting would be a line.
    logging.getLogger("celery").setLevel(logging.WARNING)


def _leave_logging_alone(**_: Any) -> None:
    """Celery sets up no logging where something listens to this signal."""


def make_worker(app: Celery, grants: Sequence[Grant], stop: Callable[[], None]) -> Any:
    """A worker for the queues of these grants; its `start` returns some seconds after SIGTERM or SIGINT.

    `stop` is called at once then, in a thread of its own.
    """

    def begin_to_stop(**_: Any) -> None:
        threading.Thread(target=stop, name="stop", daemon=True).start()

    signals.worker_shutting_down.connect(begin_to_stop, weak=False)
    return app.Worker(
        queues=[queue_name(grant.track, grant.stage) for grant in grants],
        pool="solo",
        loglevel="WARNING",
        quiet=True,
        redirect_stdouts=False,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
