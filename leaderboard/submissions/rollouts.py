"""A stored sample as it is read: its files, and the prompt and reply that its record carries."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard import blobs
from leaderboard.models import Sample
from leaderboard.visibility import SubmissionView
from problems.spec.errors import RecordError
from problems.spec.rollout import Message, Rollout, as_text, rollout_in
from problems.spec.solution import FileSolution, SourceFile, parse_solution
from problems.spec.transcript import TranscriptTurn, declared_alone, transcript_in

_A_LINE = 80
"""Characters that a message costs besides its own: a thousand empty ones are long too."""
READ_BYTES = 1024 * 1024
"""Longest record that a page of samples reads."""
RECORD, PROMPT, REPLY, FILE = "record", "prompt", "reply", "file-"
OF_TRANSCRIPTS = frozenset({PROMPT, REPLY})
"""The parts of a sample that say how it was generated."""


class SampleUnreadable(Exception):
    """The sample's record cannot be shown; the text says why."""


@dataclass(frozen=True)
class ReadSample:
    """The fields of a sample's record."""

    files: Sequence[SourceFile]
    rollout: Rollout
    transcript: Sequence[TranscriptTurn] = ()

    def texts(self) -> Mapping[str, str]:
        """Its parts as plain texts, by the names that their addresses have."""
        named = {PROMPT: as_text(self.rollout.prompt), REPLY: as_text(self.rollout.reply)}
        files = {f"{FILE}{place}": file.content for place, file in enumerate(self.files)}
        return {name: text for name, text in named.items() if text} | files


def read_sample(sample: Sample) -> ReadSample:
    """Read the record from its blob. Raises SampleUnreadable or BlobsUnavailable."""
    try:
        solution = parse_solution(read_record(sample))
    except RecordError as error:
        raise SampleUnreadable(f"The record {error}.") from error
    files = solution.files if isinstance(solution, FileSolution) else []
    return ReadSample(files, rollout_in(solution.model_extra), transcript_in(solution.model_extra))


def told_record(sample: Sample, view: SubmissionView) -> bytes:
    """The record as the view tells it: without how it was generated, if that is not told. Raises as `read_record`."""
    record = read_record(sample)
    return record if view.transcripts else declared_alone(record)


def told_digest(sample: Sample, view: SubmissionView) -> str:
    """sha256 of the record as a reader downloads it."""
    if view.transcripts or not view.shows(sample.problem):
        return sample.solution_sha256
    try:
        return hashlib.sha256(told_record(sample, view)).hexdigest()
    except (SampleUnreadable, blobs.BlobsUnavailable):
        return sample.solution_sha256


def read_record(sample: Sample) -> bytes:
    """The record's JSON line. Raises SampleUnreadable or BlobsUnavailable."""
    if not sample.solution_sha256:
        raise SampleUnreadable("Nothing is kept of an invalid sample.")
    try:
        return blobs.read(sample.solution_sha256)
    except blobs.BlobMissing as missing:
        raise SampleUnreadable("The record is no longer kept.") from missing


def cut(messages: Sequence[Message], limit: int) -> tuple[list[Message], bool]:
    """The first messages, at most `limit` characters of them, and whether something is left out."""
    kept: list[Message] = []
    for one in messages:
        if limit <= 0:
            return kept, True
        kept.append(Message(one.role, one.text[:limit]))
        limit -= len(one.text) + _A_LINE
    return kept, limit < -_A_LINE
