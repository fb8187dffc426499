"""One rollout of a file of verifiers, whatever version wrote it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_WORDS = 300
NAME_KEYS = ("task_id", "original_id", "task_dir", "id", "name")
"""Keys under which environments name an example, the most certain first. Podium's own writes `task_id`."""


@dataclass(frozen=True)
class SavedRollout:
    """`prompt` and `completion` are what the record of a solution may hold: a text or a list of messages."""

    line: int
    facts: Mapping[str, Any]
    """The file's facts on the example."""
    prompt: Any
    completion: Any
    reply: str
    """The text of the last message of the model that has any."""
    usage: Mapping[str, Any] = field(default_factory=dict)
    finish_reason: str = ""
    reward: float | None = None
    stated_id: int | None = None
    """The column `id` of version 0.1.5, which is wrong if there are several rollouts of an example."""
    fault: str = ""
    """The reason why there is no reply to grade: a failure of the endpoint, the harness or the sandbox. Not the
    model's."""
    unscored: str = ""
    """The failure after the reply, where verifiers scored it."""

    def fact(self, path: str) -> str:
        """The text at a dotted path such as `info.task_dir`, or ""."""
        found: Any = self.facts
        for key in path.split("."):
            found = found.get(key) if isinstance(found, Mapping) else None
        return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else ""

    @property
    def names(self) -> Iterator[str]:
        """Possible names of the problem. A number is left out: it is a position in a data set.

        A question of pmpp-eval is named by its chapter and exercise.
        """
        for place in ("info.", ""):
            names = (self.fact(place + key) for key in NAME_KEYS)
            yield from (name for name in names if name and not name.isdecimal())
            chapter, exercise = self.fact(f"{place}chapter"), self.fact(f"{place}exercise")
            if chapter and exercise:
                yield f"qa-{chapter}-{exercise}"

    @property
    def asked(self) -> str:
        """The text of the last message of the user in the prompt."""
        return last_text(self.prompt, frozenset({"user", "human"}))


def last_text(messages: Any, roles: frozenset[str]) -> str:
    """The text of the last message with one of these roles that has any; a plain text is itself."""
    if isinstance(messages, str):
        return messages
    found = [one for one in messages if isinstance(one, Mapping)] if isinstance(messages, Sequence) else []
    texts = (text_of(one.get("content")) for one in reversed(found) if one.get("role") in roles)
    return next((text for text in texts if text.strip()), "")


def text_of(content: Any) -> str:
    """The text of a message's content, of its parts where it has several."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))


def number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def shortened(words: Any) -> str:
    """One line of at most 300 characters."""
    line = " ".join(str(words).split())
    return line if len(line) <= MAX_WORDS else line[:MAX_WORDS] + "…"
