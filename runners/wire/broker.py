"""Celery settings of site and nodes: JSON only, late acknowledgement, no remote control."""

import logging
import time
from pathlib import Path
from typing import Any

from runners.wire import folder_broker
from runners.wire.queues import LONGEST_ATTEMPT_SECONDS


def celery_settings(broker_url: str, folder: Path, events: bool = False) -> dict[str, Any]:
    """Settings for a Celery app on this broker.

    `filesystem:///a/folder` keeps messages in that folder, `filesystem://` in `folder`. `events` turns task events on.
    """
    scheme, _, place = broker_url.partition("://")
    in_folder = scheme == "filesystem"
    settings: dict[str, Any] = {
        "broker_url": f"{folder_broker.NAME}://" if in_folder else broker_url,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_channel_error_retry": True,  # RabbitMQ: a queue may be consumed before the site has declared it
        "broker_transport_options": {"visibility_timeout": LONGEST_ATTEMPT_SECONDS},
        "task_serializer": "json",
        "accept_content": ["json"],
        "result_backend": None,
        "result_expires": None,
        "task_ignore_result": True,
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "task_create_missing_queues": True,
        "worker_prefetch_multiplier": 1,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "worker_disable_rate_limits": True,
        "worker_enable_remote_control": False,
        "worker_send_task_events": events,
        "worker_hijack_root_logger": False,
        "event_queue_ttl": 5,
        "timezone": "UTC",
    }
    if in_folder:
        folder_broker.register()
        settings["broker_transport_options"] = _folder_options(Path(place) if place else folder)
    return settings


class RareLog:
    """A log in which a fault that lasts takes one line a minute. One thread may use it."""

    def __init__(self, logger: logging.Logger, seconds: float = 60.0) -> None:
        self._logger, self._seconds = logger, seconds
        self._logged_at: dict[str, float] = {}

    def warning(self, about: str, message: str, *arguments: object) -> None:
        """Log, unless a line about the same was logged within the last minute."""
        now = time.monotonic()
        if now - self._logged_at.get(about, -self._seconds) >= self._seconds:
            self._logged_at[about] = now
            self._logger.warning(message, *arguments)


def _folder_options(folder: Path) -> dict[str, Any]:
    messages, control = folder / "queues", folder / "control"
    for path in (messages, control):
        path.mkdir(parents=True, exist_ok=True)
    return {
        "data_folder_in": str(messages),
        "data_folder_out": str(messages),
        "control_folder": str(control),
        "polling_interval": 0.1,
    }
