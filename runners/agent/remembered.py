"""What a node learned at some cost and may use again within the hour, on disk, so that it outlives the process.

Several processes may share the folder: files appear whole by a rename, and the last one to write wins. Whatever is not
quite right (damaged, too old, of another version of this program) is as if it were not there. No sandbox is shown the
folder, and the files hold JSON alone: who could write one could lie about a time, and nothing more.
"""

import hashlib
import json
import logging
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkstemp
from typing import Any, Generic, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, JsonValue, TypeAdapter

logger = logging.getLogger(__name__)
HOLDS = timedelta(hours=1)
FORMAT = 1
"""To be raised when the meaning of what is kept changes; a change of its fields tells itself."""

T = TypeVar("T")


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A sort of value: its name and its type, a dataclass or model that JSON can hold."""

    name: str
    type: type[T]
    adapter: TypeAdapter[T] = field(init=False)
    version: str = field(init=False)
    """A digest of the type's fields and all that they are made of."""

    def __post_init__(self) -> None:
        adapter: TypeAdapter[T] = TypeAdapter(self.type)
        shape = json.dumps(adapter.json_schema(), sort_keys=True)
        object.__setattr__(self, "adapter", adapter)
        object.__setattr__(self, "version", hashlib.sha256(shape.encode()).hexdigest())


class _Entry(BaseModel):
    """One file's content, after a line with its sha256."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int
    version: str
    key: str
    made_at: AwareDatetime
    value: JsonValue


class Remembered:
    """Values by kind and key in `folder`, which only this user may open; older than an hour, they are removed."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
        self._folder = folder
        self._guard = threading.Lock()
        self._pruned_at = now()
        self._prune()

    def get(self, kind: Kind[T], key: Mapping[str, Any]) -> T | None:
        """What was kept within the hour under the same key, which JSON must be able to hold; None where nothing was."""
        name = _name(kind, key)
        path = self._folder / name
        try:
            data = path.read_bytes()
        except OSError:
            return None
        try:
            return _decode(kind, name, data)
        except ValueError as error:  # pydantic's and json's are ones too
            logger.debug("%s is of no use and removed: %s", path, error)
        with suppress(OSError):
            path.unlink()
        return None

    def put(self, kind: Kind[T], key: Mapping[str, Any], value: T) -> None:
        """Keep it from now on. Where the disk will not have it, it is measured again another time."""
        name = _name(kind, key)
        try:
            self._write(name, _encode(kind, name, value))
        except (OSError, ValueError) as error:  # a full disk, a number that JSON does not know
            logger.warning("what was measured cannot be kept in %s: %s", self._folder, error)
        with self._guard:
            due = now() - self._pruned_at >= HOLDS
            self._pruned_at = now() if due else self._pruned_at
        if due:
            self._prune()

    def _write(self, name: str, data: bytes) -> None:
        handle, draft = mkstemp(dir=self._folder, prefix=".")  # for this user alone
        try:
            with open(handle, "wb") as file:  # noqa: PTH123 - an open file has no path
                file.write(data)
            Path(draft).replace(self._folder / name)
        except OSError:
            Path(draft).unlink(missing_ok=True)
            raise

    def _prune(self) -> None:
        oldest = (now() - HOLDS).timestamp()
        with suppress(OSError):
            for path in self._folder.iterdir():
                with suppress(OSError):
                    if path.stat().st_mtime < oldest:
                        path.unlink()


def _name(kind: Kind[T], key: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps([kind.name, key], sort_keys=True).encode()).hexdigest()


def _encode(kind: Kind[T], name: str, value: T) -> bytes:
    """Raises ValueError where JSON cannot hold the value."""
    entry = {
        "format": FORMAT,
        "version": kind.version,
        "key": name,
        "made_at": now().isoformat(),
        "value": kind.adapter.dump_python(value, mode="json"),
    }
    body = json.dumps(entry, allow_nan=False).encode()
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _decode(kind: Kind[T], name: str, data: bytes) -> T:
    """Raises ValueError for whatever is not what `_encode` made of this kind and name within the hour."""
    digest, _, body = data.partition(b"\n")
    if digest != hashlib.sha256(body).hexdigest().encode():
        raise ValueError("damaged")
    entry = _Entry.model_validate_json(body)
    if (entry.format, entry.version, entry.key) != (FORMAT, kind.version, name):
        raise ValueError("of another version")
    if not timedelta() <= now() - entry.made_at < HOLDS:
        raise ValueError("too old")
    return kind.adapter.validate_python(entry.value)
