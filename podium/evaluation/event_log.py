"""Writes the events of samples as JSON lines: a timeline for readers and benchmarks."""

import dataclasses
import json
import threading
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from runners.agent.ground.events import BuildPrinted, Event


def _plain(value: BaseModel) -> Any:
    return value.model_dump(mode="json")


class EventLog:
    """Writes one object a line: `event`, the event's name, and its fields. Safe to use from several threads.

    The output of builds is left out. Raises OSError if the file cannot be created.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")
        self._guard = threading.Lock()

    def tell(self, event: Event) -> None:
        if isinstance(event, BuildPrinted):
            return
        line = json.dumps({"event": type(event).__name__, **dataclasses.asdict(event)}, default=_plain)
        with self._guard:
            self._file.write(f"{line}\n")

    def close(self) -> None:
        with self._guard:
            self._file.close()
