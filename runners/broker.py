"""How Celery is set up on both sides of the doorbell: JSON only, early acks, no remote control, prefetch 1."""

from pathlib import Path
from typing import Any

from runners import folder_broker


def celery_settings(broker_url: str, folder: Path) -> dict[str, Any]:
    """Settings for a Celery app on this broker. Django-free.

    `filesystem:///a/folder` keeps its messages there, plain `filesystem://` in `folder`.
    """
    scheme, _, place = broker_url.partition("://")
    in_folder = scheme == "filesystem"
    settings: dict[str, Any] = {
        "broker_url": f"{folder_broker.NAME}://" if in_folder else broker_url,
        "broker_connection_retry_on_startup": True,
        "task_serializer": "json",
        "accept_content": ["json"],
        "result_backend": None,
        "task_ignore_result": True,
        "task_acks_late": False,
        "worker_prefetch_multiplier": 1,
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "event_queue_ttl": 5,
        "worker_hijack_root_logger": False,
        "task_create_missing_queues": True,
        "timezone": "UTC",
    }
    if in_folder:
        folder_broker.register()
        settings["broker_transport_options"] = _folder_options(Path(place) if place else folder)
    return settings


def _folder_options(folder: Path) -> dict[str, Any]:
    messages, control = folder / "messages", folder / "control"
    for path in (messages, control):
        path.mkdir(parents=True, exist_ok=True)
    return {
        "data_folder_in": str(messages),
        "data_folder_out": str(messages),
        "control_folder": str(control),
        "polling_interval": 0.1,
    }
