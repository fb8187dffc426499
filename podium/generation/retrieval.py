"""Text that a file or a retrieval service adds to prompts. It is kept, so that a resumed run sends the same prompts."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import requests

from podium.generation.errors import CannotGenerate

LONGEST_CHARACTERS = 50_000
TIMEOUT_SECONDS = (10, 60)


class Retrieval:
    """Sources are files, whose text goes to every prompt, and addresses of services that answer a prompt."""

    def __init__(self, sources: Sequence[str], path: Path) -> None:
        self._sources = sources
        self._path = path
        self._known = _read(path)

    def text_for(self, task_id: str, prompt: str) -> str:
        """The text for a problem, cut at `LONGEST_CHARACTERS`. Raises CannotGenerate where a source fails."""
        parts = [self._one(source, task_id, prompt) for source in self._sources]
        return "\n\n".join(part for part in parts if part.strip())[:LONGEST_CHARACTERS]

    def _one(self, source: str, task_id: str, prompt: str) -> str:
        if not source.startswith(("http://", "https://")):
            return _file(source)
        key = hashlib.sha256(json.dumps([source, task_id, prompt]).encode()).hexdigest()
        if key not in self._known:
            self._known[key] = text = _service(source, prompt)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "source": source, "task_id": task_id, "text": text}) + "\n")
        return self._known[key]


def _read(path: Path) -> dict[str, str]:
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    known = {}
    for row in rows:
        try:
            data = json.loads(row)
            known[data["key"]] = data["text"]
        except (ValueError, KeyError, TypeError):
            continue  # cut short; it is asked again
    return known


def _file(source: str) -> str:
    try:
        return Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotGenerate(f"--rag {source}: cannot be read: {error}") from error


def _service(source: str, prompt: str) -> str:
    try:
        answer = requests.post(source, json={"message": prompt}, timeout=TIMEOUT_SECONDS, allow_redirects=False)
        answer.raise_for_status()
        return str(answer.json()["context"])
    except (requests.RequestException, ValueError, KeyError, TypeError) as error:
        raise CannotGenerate(f"--rag {source}: gave no `context`: {type(error).__name__}: {error}"[:300]) from error
