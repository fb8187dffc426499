"""A kombu transport that keeps messages in a folder. Each queue has its own folder, with one file per message.

It replaces two parts of kombu's filesystem transport. There, a message's file can be read before it is written in
full, and every fetch lists the messages of all queues. Here a message appears by a rename, and a reader lists one
queue and then works through that list. The tables of fanout exchanges remain kombu's.
"""

import itertools
import os
import time
import uuid
from collections import defaultdict, deque
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any
from urllib.parse import quote

from kombu.transport import TRANSPORT_ALIASES, filesystem, virtual
from kombu.utils.json import dumps, loads

NAME = "podium-folder"
TRIES, PAUSE_SECONDS = 20, 0.05
_numbers = itertools.count()


class Channel(filesystem.Channel):
    """Messages under `data_folder_in`; a file whose name begins with a dot is still being written."""

    def __init__(self, connection: Any, **options: Any) -> None:
        super().__init__(connection, **options)
        self._listed: defaultdict[str, deque[str]] = defaultdict(deque)

    def _folder(self, queue: str) -> Path:
        return Path(self.data_folder_in) / quote(queue, safe="")

    def _put(self, queue: str, payload: Any, **_: Any) -> None:  # type: ignore[override]
        folder, name = self._folder(queue), f"{time.time_ns():020d}-{next(_numbers):09d}-{uuid.uuid4().hex}"
        text = dumps(payload)
        try:
            _write(folder, name, text)
        except FileNotFoundError:
            folder.mkdir(parents=True, exist_ok=True)
            _write(folder, name, text)

    def _get(self, queue: str, timeout: float | None = None) -> Any:  # noqa: ARG002 - kombu passes none
        folder, names = self._folder(queue), self._listed[queue]
        if not names:
            names.extend(sorted(_messages(folder)))
        while names:
            text = _take(f"{folder}/{names.popleft()}")
            with suppress(ValueError):  # another reader has it, or the machine stopped while it was written
                return loads(text)
        raise Empty

    def _size(self, queue: str) -> int:
        return len(_messages(self._folder(queue)))

    def _purge(self, queue: str) -> int:
        folder = self._folder(queue)
        return sum(_take(f"{folder}/{name}") != "" for name in _messages(folder))

    def _has_queue(self, queue: str, **_: Any) -> bool:
        return self._folder(queue).is_dir()

    def _new_queue(self, queue: str, **_: Any) -> None:
        self._folder(queue).mkdir(parents=True, exist_ok=True)

    def _delete(self, queue: str, *arguments: Any, **options: Any) -> None:
        _patiently(lambda: super(Channel, self)._delete(queue, *arguments, **options))
        with suppress(OSError):
            self._folder(queue).rmdir()

    def get_table(self, exchange: str) -> Any:
        return _patiently(super().get_table, exchange)

    def _queue_bind(self, *arguments: Any) -> None:
        _patiently(super()._queue_bind, *arguments)


def _write(folder: Path, name: str, text: str) -> None:
    draft = f"{folder}/.{name}"
    with open(draft, "w", encoding="utf-8") as file:  # noqa: PTH123 - 5,660 messages at once: paths cost more than files
        file.write(text)
    os.rename(draft, f"{folder}/{name}")  # noqa: PTH104


def _messages(folder: Path) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if not name.startswith(".")]  # noqa: PTH208
    except FileNotFoundError:
        return []


def _take(path: str) -> str:
    """The text of a message, which is this reader's alone now; empty if another reader has taken it."""
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            text = file.read()
        os.unlink(path)  # noqa: PTH108 - succeeds for one reader only
    except FileNotFoundError:
        return ""
    return text


def _patiently(call: Any, *arguments: Any) -> Any:
    """Repeat a call that fails while another process is writing the same file or folder."""
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
        # Kombu would share one state among all folders of a process. A binding made in one would be missing in another.
        self.state = virtual.BrokerState()

    @property
    def default_connection_params(self) -> dict[str, Any]:
        """Empty: a folder has no host, and kombu logs a warning when it makes one up."""
        return {}


def register() -> str:
    """Make the transport known to kombu; returns the scheme of its URLs."""
    TRANSPORT_ALIASES[NAME] = f"{__name__}:Transport"
    return NAME
