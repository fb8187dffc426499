"""Keeps every reply in a file as it comes, so that nothing is asked twice after a run was cut off."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from podium.generation.endpoint import REQUEST_REFUSED, Reply
from podium.generation.errors import CannotGenerate
from podium.generation.journal import Journal, decoded

Key = tuple[str, int, int]
"""task_id, sample and turn."""


@dataclass(frozen=True)
class KeptReply:
    """A reply with what was asked for it."""

    task_id: str
    sample: int
    request: str
    """sha256 of the request: messages, model and parameters."""
    reply: Reply
    asked_at: str
    seconds: float
    turn: int = 0

    @property
    def key(self) -> Key:
        return self.task_id, self.sample, self.turn


class Store:
    """Replies of one run in `replies.jsonl`; each line is on disk before the next request of its thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._journal = Journal(path)
        self._kept = _read(self._journal)

    def __enter__(self) -> Self:
        self._journal.__enter__()
        return self

    def __exit__(self, *ended: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._journal.__exit__(*ended)

    def get(self, key: Key, request: str) -> KeptReply | None:
        """The reply to this very request, if it is kept."""
        kept = self._kept.get(key)
        return kept if kept and kept.request == request else None

    @property
    def has_answers(self) -> bool:
        """Whether the endpoint has answered any request."""
        return any(kept.reply.finish_reason != REQUEST_REFUSED for kept in list(self._kept.values()))

    def others(self, requests: Mapping[Key, str]) -> int:
        """The number of kept first replies that answer other requests than these."""
        return sum(requests.get(key) != kept.request for key, kept in self._kept.items() if not kept.turn)

    def add(self, kept: KeptReply) -> None:
        """Append and flush to the disk."""
        self._journal.append(asdict(kept))
        self._kept[kept.key] = kept


def _read(journal: Journal) -> dict[Key, KeptReply]:
    """The last line of each key counts. A last line that was cut short is left out."""
    kept: dict[Key, KeptReply] = {}
    for number, line, is_last in journal.lines():
        try:
            one = _kept(decoded(line))
        except (ValueError, TypeError, KeyError):
            if not is_last and not _is_cut(line):
                raise CannotGenerate(
                    f"{journal.path}, line {number}: is no reply of `podium generate`; move the file away"
                ) from None
            continue
        kept[one.key] = one
    return kept


def _is_cut(line: bytes) -> bool:
    return line.startswith(b'{"task_id"') and not line.endswith(b"}")


def _kept(data: dict[str, Any]) -> KeptReply:
    names = {one.name for one in fields(Reply)}
    reply = Reply(**{name: value for name, value in data["reply"].items() if name in names})
    where = data["task_id"], data["sample"], data["request"]
    return KeptReply(*where, reply, data["asked_at"], data["seconds"], data.get("turn", 0))
