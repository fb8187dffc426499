"""How an evaluation's sample was generated, as a conversation: folded turns, a search, tokens and time of each turn.

Every text is text: pieces are escaped one by one, found words are marked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from leaderboard.models import Sample
from leaderboard.submissions import rollouts
from leaderboard.submissions.rollouts import ReadSample
from leaderboard.visibility import SubmissionView
from problems.spec.rollout import Message
from problems.spec.transcript import TranscriptTurn

MAX_TURNS, MAX_CHARACTERS, MAX_MESSAGE = 200, 300_000, 8000
"""Limits of a page: turns, characters of all messages, and of one. The whole is a text of its own."""
MAX_ASKED, MAX_MARKS = 100, 200


@dataclass(frozen=True)
class ShownMessage:
    role: str
    html: SafeString
    is_cut: bool


@dataclass(frozen=True)
class ShownTurn:
    """One turn; `n_found` is how often it has the words that are searched."""

    number: int
    turn: TranscriptTurn
    messages: Sequence[ShownMessage]
    n_found: int


@dataclass(frozen=True)
class ShownTranscript:
    """`is_private`: there is one, and this reader may not read it."""

    turns: Sequence[ShownTurn]
    n_turns: int
    search: str
    n_found: int
    prompt_tokens: float | None
    completion_tokens: float | None
    seconds: float | None
    is_private: bool = False
    is_cut: bool = False
    texts: Sequence[tuple[str, str]] = ()
    """(words, address) of the whole as text."""


def shown_transcript(sample: Sample, read: ReadSample, view: SubmissionView, asked: str) -> ShownTranscript | None:
    """None if the record tells nothing of how it was generated. `asked` is the search, "" for none."""
    turns = read.transcript
    if not turns:
        return None
    if not view.transcripts:
        return ShownTranscript((), len(turns), "", 0, None, None, None, is_private=True)
    search = asked.strip()[:MAX_ASKED]
    shown = list(_shown(turns, search))
    return ShownTranscript(
        shown, len(turns), search, sum(one.n_found for one in shown),
        _sum([one.prompt_tokens for one in turns]), _sum([one.completion_tokens for one in turns]),
        _sum([one.seconds for one in turns]),
        is_cut=len(shown) < len(turns) or any(message.is_cut for one in shown for message in one.messages),
        texts=list(_texts(sample, read)),
    )  # fmt: skip


def _shown(turns: Sequence[TranscriptTurn], search: str) -> Iterator[ShownTurn]:
    left = MAX_CHARACTERS
    for number, turn in enumerate(turns[:MAX_TURNS], 1):
        messages = []
        for message in turn.messages:
            room = min(MAX_MESSAGE, max(left, 0))
            messages.append(_message(message, search, room))
            left -= min(len(message.text), room)
        yield ShownTurn(number, turn, messages, sum(_times_in(one, search) for one in turn.messages))


def _message(message: Message, search: str, room: int) -> ShownMessage:
    return ShownMessage(message.role, marked(message.text[:room], search), len(message.text) > room)


def _times_in(message: Message, search: str) -> int:
    return message.text.lower().count(search.lower()) if search else 0


def marked(text: str, search: str) -> SafeString:
    """The escaped text in which the words searched stand in `<mark>`, the first of them at least."""
    low, wanted = text.lower(), search.lower()
    if not wanted or len(low) != len(text):  # a few letters have a longer small form: places would not agree
        return mark_safe(escape(text))  # noqa: S308 - escaped
    parts: list[str] = []
    start = 0
    while (found := low.find(wanted, start)) >= 0 and len(parts) < 2 * MAX_MARKS:
        end = found + len(wanted)
        parts += [escape(text[start:found]), f"<mark>{escape(text[found:end])}</mark>"]
        start = end
    return mark_safe("".join([*parts, escape(text[start:])]))  # noqa: S308 - escaped piece by piece


def _sum(values: Sequence[float | None]) -> float | None:
    """None if nothing is known."""
    known = [one for one in values if one is not None]
    return sum(known) if known else None


def _texts(sample: Sample, read: ReadSample) -> Iterator[tuple[str, str]]:
    named = read.texts()
    for words, part in (("prompt", rollouts.PROMPT), ("reply", rollouts.REPLY), ("record", rollouts.RECORD)):
        if part == rollouts.RECORD or part in named:
            yield words, reverse("rollout_text", args=[sample.submission_id, sample.pk, part])
