"""Keeps every reply in a file as it comes, so that nothing is asked twice after a run was cut off."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from io import BufferedWriter
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

from podium.generation.endpoint import Reply
from podium.generation.errors import CannotGenerate

Key = tuple[str, int]
"""task_id and sample."""


@dataclass(frozen=True)
class Kept:
    """A reply with what was asked for it."""

    task_id: str
    sample: int
    request: str
    """sha256 of the request: messages, model and parameters."""
    reply: Reply
    asked_at: str
    seconds: float


class Store:
    """Replies of one run in `replies.jsonl`; each line is on disk before the next request of its thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kept = _read(path)
        self._lock = Lock()
        self._file: BufferedWriter | None = None

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        _end_line(self.path)
        self._file = self.path.open("ab")
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._file:
            self._file.close()

    def get(self, key: Key, request: str) -> Kept | None:
        """The reply to this very request, if it is kept."""
        kept = self._kept.get(key)
        return kept if kept and kept.request == request else None

    def others(self, requests: Mapping[Key, str]) -> int:
        """How many kept replies are to other requests than these."""
        return sum(requests.get(key) != kept.request for key, kept in self._kept.items())

    def add(self, kept: Kept) -> None:
        """Append and flush to the disk."""
        line = json.dumps(asdict(kept), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        with self._lock:
            assert self._file, "the store is open"
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())
            self._kept[kept.task_id, kept.sample] = kept


def _read(path: Path) -> dict[Key, Kept]:
    """The last line of each key counts. A last line that was cut short is left out."""
    if not path.exists():
        return {}
    kept: dict[Key, Kept] = {}
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            one = _kept(json.loads(line.decode("utf-8", "surrogatepass")))
        except (ValueError, TypeError, KeyError):
            if number < len(lines) - 1 and not _is_cut(line):
                raise CannotGenerate(
                    f"{path}, line {number}: is no reply of `podium generate`; move the file away"
                ) from None
            continue
        kept[one.task_id, one.sample] = one
    return kept


def _is_cut(line: bytes) -> bool:
    return line.startswith(b'{"task_id"') and not line.endswith(b"}")


def _kept(data: dict[str, Any]) -> Kept:
    names = {one.name for one in fields(Reply)}
    reply = Reply(**{name: value for name, value in data["reply"].items() if name in names})
    return Kept(data["task_id"], data["sample"], data["request"], reply, data["asked_at"], data["seconds"])


def _end_line(path: Path) -> None:
    """End a line that was cut short, so that the next one stands alone."""
    if path.exists() and path.stat().st_size and not path.read_bytes().endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")
