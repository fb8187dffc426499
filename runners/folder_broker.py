"""Kombu's folder transport without its races: a reader never finds a message or a table half written.

Kombu makes a message's file and then fills it; a reader in between gets an empty file, and with it an error that ends
the Celery worker. Here a message appears whole, by a rename, and what cannot be read is no message: a doorbell may get
lost.
"""

import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem, virtual
from kombu.utils.json import dumps

NAME = "podium-folder"
TRIES, PAUSE_SECONDS = 20, 0.05


class Channel(filesystem.Channel):
    """See the module."""

    def _put(self, queue: str, payload: Any, **_: Any) -> None:  # type: ignore[override]
        folder = Path(self.data_folder_out)
        name = f"{round(time.monotonic() * 1000)}_{uuid.uuid4()}"
        draft = folder / f".{name}.draft"
        draft.write_text(dumps(payload), encoding="utf-8")
        draft.rename(folder / f"{name}.{queue}.msg")

    def _get(self, queue: str, timeout: float | None = None) -> Any:  # noqa: ARG002 - kombu gives none
        try:
            return super()._get(queue)
        except ValueError:
            raise Empty from None

    def get_table(self, exchange: str) -> Any:
        return _patiently(super().get_table, exchange)

    def _queue_bind(self, *arguments: Any) -> None:
        _patiently(super()._queue_bind, *arguments)


def _patiently(call: Any, *arguments: Any) -> Any:
    """Ask again while another process is writing what is read."""
    for left in reversed(range(TRIES)):
        try:
            return call(*arguments)
        except ValueError:
            if not left:
                raise
            time.sleep(PAUSE_SECONDS)
    raise AssertionError("unreachable")


class Transport(filesystem.Transport):
    Channel = Channel

    def __init__(self, client: Any, **options: Any) -> None:
        super().__init__(client, **options)
        # Kombu keeps one for all folders of a process: what was bound in one would never be bound in another.
        self.state = virtual.BrokerState()

    @property
    def default_connection_params(self) -> dict[str, Any]:
        """None: a folder has no host, and Kombu warns in every process's log when it makes one up."""
        return {}


def register() -> str:
    """Make the transport known to kombu; returns the scheme of its URLs."""
    TRANSPORT_ALIASES[NAME] = f"{__name__}:Transport"
    return NAME
