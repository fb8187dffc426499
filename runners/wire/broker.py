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


class Rarely(logging.Filter):
    """Lets a line about the same pass once a minute. As a filter of a logger it tells lines apart by their format."""

    def __init__(self, seconds: float = 60.0) -> None:
        super().__init__()
        self._seconds = seconds
        self._passed_at: dict[str, float] = {}

    def due(self, about: str) -> bool:
        """Whether no line about this has passed within the last minute; if so, one passes now."""
        now = time.monotonic()
        if now - self._passed_at.get(about, -self._seconds) < self._seconds:
            return False
        self._passed_at[about] = now
        return True

    def filter(self, record: logging.LogRecord) -> bool:
        return self.due(str(record.msg))


_NO_ENTRY, _NOT_ALLOWED = 403, 530


def refusal(error: BaseException) -> str:
    """The reason why the broker could not be used, in words without addresses or names of accounts."""
    code: int = getattr(error, "reply_code", 0) or 0
    if code == _NO_ENTRY or type(error).__name__ == "AuthenticationError":  # of redis, which a client may lack
        return "it refuses the account"
    if code == _NOT_ALLOWED:
        return "it has no such virtual host, or refuses the account there"
    if code:
        return f"it answers {code} {str(getattr(error, 'reply_text', '')).partition(' - ')[0]}"
    return "it does not answer"


REPEATING = ("celery.beat", "celery.worker.consumer.consumer", "kombu.connection")
"""Loggers that repeat the same fault, with a traceback, as long as a broker is away or refuses its client."""


def log_rarely() -> None:
    """Let each of Celery's own lines about a broker pass once a minute."""
    for name in REPEATING:
        logger = logging.getLogger(name)
        if not any(isinstance(one, Rarely) for one in logger.filters):
            logger.addFilter(Rarely())


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
