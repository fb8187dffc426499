"""The turns in which a solution was generated, with tokens and time of each, from the extra keys of its record.

Never raises. `declared_alone` is a record without them, as readers get it who may not read how it was generated.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from problems.spec.errors import RecordError
from problems.spec.rollout import Message, rollout_in
from problems.spec.solution import FileSolution, PatchSolution, load_object

TURNS_KEY = "turns"
MAX_TURNS = 1000
MAX_SECONDS = 10**7
MAX_WORDS = 2000
"""Characters that are kept of a turn's verdict and reason."""
_REPLYING = frozenset({"assistant", "model", "ai", "gpt"})
_OWN_KEYS = frozenset(FileSolution.model_fields) | frozenset(PatchSolution.model_fields)
_PROMPT_TOKENS, _REPLY_TOKENS = ("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")


@dataclass(frozen=True)
class TranscriptTurn:
    """The messages shown to the model, tools' answers included, and its reply. None: the record does not tell."""

    asked: Sequence[Message] = ()
    reply: Sequence[Message] = ()
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float | None = None
    verdict: str = ""
    reason: str = ""
    is_chosen: bool = False
    """Whether its reply is the solution, as the record says."""

    @property
    def messages(self) -> list[Message]:
        return [*self.asked, *self.reply]


def transcript_in(extra: Mapping[str, Any] | None) -> list[TranscriptTurn]:
    """The conversation in the order of its turns, at most MAX_TURNS; empty if the record tells nothing of it."""
    known = extra or {}
    turns = _turns_of(known)[:MAX_TURNS]
    told = known.get(TURNS_KEY)
    facts = [one if isinstance(one, dict) else {} for one in told[:MAX_TURNS]] if isinstance(told, list) else []
    if len(turns) == 1 and not facts:
        usage = known.get("usage")
        facts = [usage] if isinstance(usage, dict) else []
    turns += [TranscriptTurn()] * (len(facts) - len(turns))
    return [_with_facts(turn, facts[n] if n < len(facts) else {}) for n, turn in enumerate(turns)]


def _turns_of(known: Mapping[str, Any]) -> list[TranscriptTurn]:
    """Each reply ends a turn; what is left after the last one is a turn without a reply."""
    rollout = rollout_in(known)
    spoken = [_named(one, "user") for one in rollout.prompt] + [_named(one, "assistant") for one in rollout.reply]
    turns: list[TranscriptTurn] = []
    asked: list[Message] = []
    for one in spoken:
        if one.role.lower() in _REPLYING:
            turns.append(TranscriptTurn(tuple(asked), (one,)))
            asked = []
        else:
            asked.append(one)
    return [*turns, TranscriptTurn(tuple(asked))] if asked else turns


def _named(message: Message, role: str) -> Message:
    return message if message.role else Message(role, message.text)


def _with_facts(turn: TranscriptTurn, facts: Mapping[str, Any]) -> TranscriptTurn:
    return replace(
        turn,
        prompt_tokens=_count(facts, _PROMPT_TOKENS),
        completion_tokens=_count(facts, _REPLY_TOKENS),
        seconds=_seconds(facts.get("seconds")),
        verdict=_words(facts.get("verdict")),
        reason=_words(facts.get("reason")) or _words(facts.get("generation_problem")),
        is_chosen=facts.get("chosen") is True,
    )


def _count(facts: Mapping[str, Any], names: Sequence[str]) -> int | None:
    found = (facts.get(name) for name in names)
    return next((one for one in found if type(one) is int and 0 <= one <= 10**12), None)


def _seconds(value: Any) -> float | None:
    is_number = type(value) in (int, float) and math.isfinite(value)
    return float(value) if is_number and 0 <= value <= MAX_SECONDS else None


def _words(value: Any) -> str:
    return value[:MAX_WORDS].replace("\0", "").encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def declared_alone(record: bytes) -> bytes:
    """The record with the keys of a solution alone; unchanged if it has no others, or cannot be read."""
    try:
        known = load_object(record)
    except RecordError:
        return record
    kept = {key: value for key, value in known.items() if key in _OWN_KEYS}
    return record if len(kept) == len(known) else json.dumps(kept).encode() + b"\n"
