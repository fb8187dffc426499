"""Keeps unsent reports on disk, with their blobs, and sends them when the site is available again."""

import base64
import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from uuid import UUID

from runners.agent.ground.atomic import discard, seal, unseal, write_atomically
from runners.agent.ground.errors import SiteRefused, SiteUnavailable
from runners.agent.link.client import SiteClient

logger = logging.getLogger(__name__)

SUFFIX = ".letter"


@dataclass(frozen=True)
class Letter:
    """One report as bytes, with the blobs that it names."""

    attempt: UUID
    attempt_token: str
    body: bytes
    blobs: Mapping[str, bytes]


def send(client: SiteClient, letter: Letter) -> None:
    """Send the blobs, then the report. A refusal is final and is logged. Raises SiteUnavailable."""
    try:
        for sha256, content in letter.blobs.items():
            client.put_blob(letter.attempt, letter.attempt_token, sha256, content)
        client.report(letter.attempt, letter.attempt_token, letter.body)
    except SiteRefused as refused:
        logger.warning("the site does not take the report of attempt %s: %s", letter.attempt, refused)


class Outbox:
    """Letters in a folder, one file each. Only this user may read them, because they hold attempt tokens.

    A letter that the disk does not take is kept in memory. May be used from any thread.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._guard = Lock()
        self._tokens: dict[UUID, str] = {}
        self._in_memory: dict[UUID, Letter] = {}
        for path in sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: path.lstat().st_mtime):
            if letter := _read(path):
                self._tokens[letter.attempt] = letter.attempt_token

    def deliver(self, client: SiteClient, letter: Letter) -> bool:
        """Send the letter, or keep it for later and return False."""
        try:
            send(client, letter)
        except SiteUnavailable as error:
            logger.warning("the report of attempt %s waits: %s", letter.attempt, error)
            self._keep(letter)
            return False
        return True

    def flush(self, client: SiteClient) -> int:
        """Send the kept letters, oldest first, while the site answers. Returns the number of letters left."""
        waiting = list(self.tokens())
        for done, attempt in enumerate(waiting):
            letter = self._in_memory.get(attempt) or _read(self._path(attempt))
            try:
                if letter is not None:
                    send(client, letter)
            except SiteUnavailable:
                return len(waiting) - done
            self._forget(attempt)
        return 0

    def tokens(self) -> dict[UUID, str]:
        """The attempts whose letters wait, oldest first, with their tokens."""
        with self._guard:
            return dict(self._tokens)

    def n_waiting(self) -> int:
        return len(self._tokens)

    def _path(self, attempt: UUID) -> Path:
        return self._folder / f"{attempt}{SUFFIX}"

    def _keep(self, letter: Letter) -> None:
        try:
            write_atomically(self._path(letter.attempt), seal(_encode(letter)))
        except OSError as error:
            logger.warning("the report of attempt %s is kept in memory: %s", letter.attempt, error)
            self._in_memory[letter.attempt] = letter
        with self._guard:
            self._tokens[letter.attempt] = letter.attempt_token

    def _forget(self, attempt: UUID) -> None:
        with self._guard:
            del self._tokens[attempt]
        self._in_memory.pop(attempt, None)
        with suppress(OSError):  # the site takes a report that it has again
            self._path(attempt).unlink()


def _encode(letter: Letter) -> bytes:
    data = {
        "attempt": str(letter.attempt),
        "attempt_token": letter.attempt_token,
        "body": letter.body.decode(),
        "blobs": {sha256: base64.b64encode(content).decode() for sha256, content in letter.blobs.items()},
    }
    return json.dumps(data).encode()


def _read(path: Path) -> Letter | None:
    """The letter; None if it is damaged, which loses it."""
    content = unseal(path)
    if content is None:
        return None
    try:
        data = json.loads(content)
        blobs = {sha256: base64.b64decode(text) for sha256, text in data["blobs"].items()}
        return Letter(UUID(data["attempt"]), data["attempt_token"], data["body"].encode(), blobs)
    except (ValueError, KeyError, TypeError) as error:
        discard(path, str(error))
        return None
