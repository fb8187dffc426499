"""The samples of one problem as the rollout page shows them side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.urls import reverse

from leaderboard import blobs
from leaderboard.models import Evaluation, Result, Sample, SampleNote
from leaderboard.submissions import rollouts
from leaderboard.submissions.rollouts import ReadSample, SampleUnreadable
from leaderboard.visibility import SubmissionView, shown_reason
from problems.models import Problem
from problems.spec.kinds import SITE_KINDS
from problems.spec.record import READ_AS
from problems.spec.rollout import Message

SHOWN_CHARACTERS = 8000
"""Limit of each text; the rest is on a page of its own."""
MAX_FILES = 10
"""Limit of files per sample; the others are in its record."""


@dataclass(frozen=True)
class ShownText:
    """A prompt, a reply or a file, as far as the page shows it."""

    title: str
    messages: Sequence[Message]
    is_cut: bool
    url: str
    """The whole as plain text."""
    is_code: bool


@dataclass(frozen=True)
class ShownRecord:
    """The parts of a sample's record that the page shows."""

    url: str = ""
    """The whole record as text; "" where nothing is kept."""
    unreadable: str = ""
    """The reason why the rest is empty, or ""."""
    texts: Sequence[ShownText] = ()
    n_more_files: int = 0
    usage: Mapping[str, int] = field(default_factory=dict)
    read_as: str | None = None
    """The answer that was found in a question's reply, "" if none could be told; None where that was not stored."""


@dataclass(frozen=True)
class ShownSample:
    """One column."""

    evaluation: Evaluation
    reason: str
    record: ShownRecord | None
    """The record; None if the user may not read it."""
    notes: Sequence[SampleNote]
    own_note: SampleNote | None


def shown_samples(
    user: Any, view: SubmissionView, problem: Problem, evaluations: Sequence[Evaluation]
) -> list[ShownSample]:
    """The evaluations' samples as far as the view shows them; each with sample, result and cases. Two queries."""
    shows, is_question = view.shows(problem), problem.kind in SITE_KINDS
    notes = _notes(evaluations) if view.notes else {}
    return [
        ShownSample(
            evaluation=one,
            reason=_reason(view, one),
            record=_record(one, view, is_question=is_question) if shows else None,
            notes=[note for note in notes.get(one.sample_id, []) if note.author_id != user.pk],
            own_note=next((note for note in notes.get(one.sample_id, []) if note.author_id == user.pk), None),
        )
        for one in evaluations
    ]


def _notes(evaluations: Sequence[Evaluation]) -> dict[int, list[SampleNote]]:
    found: dict[int, list[SampleNote]] = {}
    rows = SampleNote.objects.filter(sample__in=[one.sample_id for one in evaluations]).select_related("author")
    for note in rows:
        found.setdefault(note.sample_id, []).append(note)
    return found


def _reason(view: SubmissionView, evaluation: Evaluation) -> str:
    result = evaluation.current_result
    return shown_reason(view, result.verdict, result.reason) if result else ""


def _record(evaluation: Evaluation, view: SubmissionView, *, is_question: bool) -> ShownRecord:
    sample = evaluation.sample
    url = _part_url(sample, rollouts.RECORD) if sample.solution_sha256 else ""
    if url and sample.solution_bytes > rollouts.READ_BYTES:
        return ShownRecord(url, f"The record is longer than {rollouts.READ_BYTES >> 20} MiB; read it as text.")
    try:
        read = rollouts.read_sample(sample)
    except SampleUnreadable as why:
        return ShownRecord(url, str(why))
    except blobs.BlobsUnavailable:
        return ShownRecord(url, "The record cannot be read now; please try again in a while.")
    texts = _texts(sample, read if view.transcripts else _without_transcript(read), is_question=is_question)
    n_more_files = max(0, len(read.files) - MAX_FILES)
    return ShownRecord(url, "", texts, n_more_files, read.rollout.usage, _read_as(evaluation.current_result))


def _read_as(result: Result | None) -> str | None:
    """The reading of the reply when it was settled."""
    fields = [field for case in result.cases.all() for field in case.fields] if result else []
    return next((field["value"] for field in fields if field["name"] == READ_AS), None)


def _without_transcript(read: ReadSample) -> ReadSample:
    return replace(read, rollout=replace(read.rollout, prompt=(), reply=()), transcript=())


def _texts(sample: Sample, read: ReadSample, *, is_question: bool) -> list[ShownText]:
    rollout = read.rollout
    generated = [("Prompt", rollouts.PROMPT, rollout.prompt), ("Reply", rollouts.REPLY, rollout.reply)]
    shown = [_text(sample, title, part, messages) for title, part, messages in generated if messages]
    for place, file in enumerate(read.files[:MAX_FILES]):
        title = "Reply" if is_question and not rollout.reply else file.path
        part = f"{rollouts.FILE}{place}"
        shown.append(_text(sample, title, part, [Message("", file.content)], is_code=not is_question))
    return shown


def _text(sample: Sample, title: str, part: str, messages: Sequence[Message], *, is_code: bool = False) -> ShownText:
    kept, is_cut = rollouts.cut(messages, SHOWN_CHARACTERS)
    return ShownText(title, kept, is_cut, _part_url(sample, part), is_code)


def _part_url(sample: Sample, part: str) -> str:
    return reverse("rollout_text", args=[sample.submission_id, sample.pk, part])
