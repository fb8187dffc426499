"""Keeps unsent reports on disk, with their blobs, and sends them when the site is available again."""

import base64
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from runners.agent.ground.atomic import write_atomically
from runners.agent.ground.errors import SiteRefused, SiteUnavailable
from runners.agent.link.client import SiteClient

logger = logging.getLogger(__name__)


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
    """Letters in a folder, one file each. Only this user may read them, because they hold attempt tokens."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder

    def deliver(self, client: SiteClient, letter: Letter) -> bool:
        """Send the letter, or keep it for later and return False."""
        try:
            send(client, letter)
        except SiteUnavailable as error:
            logger.warning("the report of attempt %s waits on disk: %s", letter.attempt, error)
            self._keep(letter)
            return False
        return True

    def flush(self, client: SiteClient) -> int:
        """Send the kept letters, oldest first, while the site answers. Returns the number of letters left."""
        waiting = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for done, path in enumerate(waiting):
            letter = _read(path)
            try:
                if letter is not None:
                    send(client, letter)
            except SiteUnavailable:
                return len(waiting) - done
            path.unlink()
        return 0

    def n_waiting(self) -> int:
        return len(list(self._folder.glob("*.json")))

    def _keep(self, letter: Letter) -> None:
        data = {
            "attempt": str(letter.attempt),
            "attempt_token": letter.attempt_token,
            "body": letter.body.decode(),
            "blobs": {sha256: base64.b64encode(content).decode() for sha256, content in letter.blobs.items()},
        }
        write_atomically(self._folder / f"{letter.attempt}.json", json.dumps(data).encode())


def _read(path: Path) -> Letter | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        blobs = {sha256: base64.b64decode(content) for sha256, content in data["blobs"].items()}
        return Letter(UUID(data["attempt"]), data["attempt_token"], data["body"].encode(), blobs)
    except (ValueError, KeyError, TypeError) as error:
        logger.warning("%s in the outbox is damaged and dropped: %s", path, error)
        return None
