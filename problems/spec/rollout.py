"""Reads how a solution was generated (prompt, reply, tokens) from the extra keys of its record. Never raises."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PROMPT_KEY = "prompt"
REPLY_KEYS = ("completion", "reply", "response", "generated_completion")
"""verifiers writes the first, ComputeEval's generator the last. The first that holds something counts."""
CONVERSATION_KEY = "messages"
"""Prompt and reply in one list. What follows the last message of the user is the reply."""
SYSTEM_PROMPT_KEY = "system_prompt"
USAGE_KEY = "usage"
USAGE_KEYS = (
    "prompt_tokens", "input_tokens", "completion_tokens", "output_tokens", "reasoning_tokens", "total_tokens",
)  # fmt: skip
MAX_TOKENS = 10**12
MAX_ROLE_CHARACTERS = 40
_ASKING = frozenset({"user", "human"})


@dataclass(frozen=True)
class Message:
    """One message of a conversation; `role` is empty where the record gives a plain text."""

    role: str
    text: str


@dataclass(frozen=True)
class Rollout:
    """How a solution was generated, as far as its record tells. `usage` gives numbers of tokens by their key."""

    prompt: Sequence[Message] = ()
    reply: Sequence[Message] = ()
    usage: Mapping[str, int] = field(default_factory=dict)


def rollout_in(extra: Mapping[str, Any] | None) -> Rollout:
    """Read the keys of a solution's record besides its own. Values of unexpected types are left out."""
    known = extra or {}
    asked, answered = _split(_messages(known.get(CONVERSATION_KEY)))
    system = [Message("system", one.text) for one in _messages(known.get(SYSTEM_PROMPT_KEY))]
    prompt, reply = _messages(known.get(PROMPT_KEY)), _first(known, REPLY_KEYS)
    return Rollout(system + (prompt or asked), reply or answered, _usage(known.get(USAGE_KEY)))


def as_text(messages: Sequence[Message]) -> str:
    """The messages as one plain text, each under its role."""
    return "\n\n".join(f"[{one.role}]\n{one.text}" if one.role else one.text for one in messages)


def _first(extra: Mapping[str, Any], keys: Sequence[str]) -> list[Message]:
    return next(filter(None, (_messages(extra.get(key)) for key in keys)), [])


def _messages(value: Any) -> list[Message]:
    if isinstance(value, list):
        return [message for one in value if (message := _message(one))]
    message = _message(value)
    return [message] if message else []


def _message(value: Any) -> Message | None:
    if not isinstance(value, dict):
        text = _text(value)
        return Message("", text) if text else None
    role = value.get("role")
    text = "\n".join(filter(None, [_text(value.get("content")), *_tool_calls(value.get("tool_calls"))]))
    named = _clean(role)[:MAX_ROLE_CHARACTERS] if isinstance(role, str) else ""
    return Message(named, text) if text else None


def _text(content: Any) -> str:
    """A text, or the texts of a list of parts; a part of another type is named by its type."""
    if isinstance(content, str):
        return _clean(content)
    if not isinstance(content, list):
        return ""
    return "\n".join(filter(None, map(_part, content)))


def _part(part: Any) -> str:
    if isinstance(part, str):
        return _clean(part)
    if not isinstance(part, dict):
        return ""
    if isinstance(part.get("text"), str):
        return _clean(part["text"])
    return f"[{_clean(part['type'])[:MAX_ROLE_CHARACTERS]}]" if isinstance(part.get("type"), str) else ""


def _tool_calls(calls: Any) -> Iterator[str]:
    for one in calls if isinstance(calls, list) else []:
        called = one.get("function") if isinstance(one, dict) else None
        if isinstance(called, dict) and isinstance(called.get("name"), str):
            arguments = called.get("arguments")
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            yield _clean(f"[calls {called['name']}] {text}")


def _clean(text: str) -> str:
    """Without NUL, and with lone surrogates replaced: a page or a file could not carry them."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _split(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """The messages up to the last of the user, and those after it."""
    asked = [place for place, one in enumerate(messages) if one.role.lower() in _ASKING]
    end = asked[-1] + 1 if asked else 0
    return list(messages[:end]), list(messages[end:])


def _usage(usage: Any) -> dict[str, int]:
    return {key: usage[key] for key in USAGE_KEYS if _is_count(usage.get(key))} if isinstance(usage, dict) else {}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS
