"""The node's end of the doorbell: a Celery worker whose only task wakes the agent."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from celery import Celery

from runners.broker import celery_settings
from runners.doorbell import TASK, queue_name
from runners.protocol import Grant


def make_app(broker_url: str, folder: Path, ring: Callable[[], None]) -> Celery:
    """An app with the task `podium.doorbell(track, stage)`; `folder` serves `filesystem://`."""
    app = Celery("podium-node", set_as_current=False)
    app.conf.update(celery_settings(broker_url, folder), broker_connection_max_retries=None)

    @app.task(name=TASK)
    def doorbell(track: str, stage: str) -> None:  # noqa: ARG001 - the agent asks for all that it may serve
        ring()

    return app


def make_worker(app: Celery, grants: Sequence[Grant]) -> Any:
    """A worker for the queues of these grants; its `start` returns after SIGTERM or SIGINT."""
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
