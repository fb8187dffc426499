"""A file of JSON lines that grows while a run goes on, and is whole after it was cut off at any time."""

import json
import os
from collections.abc import Iterator, Mapping
from io import BufferedWriter
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self


class Journal:
    """Each line is on disk before `append` returns. Several threads may append."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._file: BufferedWriter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._file:
            self._file.close()

    def append(self, data: Mapping[str, Any]) -> None:
        line = json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        with self._lock:
            file = self._file = self._file or self._opened()
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def _opened(self) -> BufferedWriter:
        """The file, made if there is none. A line that was cut short is ended, so that the next one stands alone."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_cut = self.path.exists() and self.path.stat().st_size and not self.path.read_bytes().endswith(b"\n")
        file = self.path.open("ab")
        if is_cut:
            file.write(b"\n")
        return file

    def lines(self) -> Iterator[tuple[int, bytes, bool]]:
        """Number and content of each line that is not blank, and whether it is the last, which may be cut short."""
        lines = self.path.read_bytes().split(b"\n") if self.path.exists() else []
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, line, number >= len(lines) - 1


def decoded(line: bytes) -> Any:
    """Raises ValueError."""
    return json.loads(line.decode("utf-8", "surrogatepass"))
