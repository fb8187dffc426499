"""A submission that has been read and checked, but not stored: samples, each with the reason where it is invalid."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from problems.formats.bounded import MEBIBYTE, UploadLimits
from problems.formats.catalogue import Catalogue
from problems.formats.errors import PackRefused
from problems.spec.errors import RecordError
from problems.spec.solution import (
    SOLUTION_SCHEMA_VERSION,
    FileSolution,
    Solution,
    SourceFile,
    solution_from,
)


@dataclass(frozen=True)
class Notice:
    """Something that a submitter should know; `line` is the line's number in the file, or None."""

    message: str
    line: int | None = None


@dataclass(frozen=True)
class IncomingSample:
    """One sample; `index` counts a problem's samples from zero.

    `record` is the canonical solution line, empty where the content cannot be written as one.
    `invalid_reason` is empty for a sample that may be graded. `line_number` is 0 outside JSON lines.
    """

    task_id: str
    index: int
    line_number: int
    record: bytes
    content_sha256: str
    """Digest of `record`, or of the received text where there is no record."""
    invalid_reason: str = ""
    language: str = ""
    """The language of a valid solution, where the problem's rules tell it."""
    folder: str = ""
    """The folder of the sample's files in a zip of folders."""

    @classmethod
    def unchecked(cls, task_id: str, index: int, solution: FileSolution, language: str = "") -> "IncomingSample":
        """A sample of the problem's own, without the checks of contestants' code: it may do what is refused there."""
        record = solution.to_line()
        return cls(task_id, index, 0, record, hashlib.sha256(record).hexdigest(), language=language)


@dataclass(frozen=True)
class DeclaredGeneration:
    """A pack's declaration of its generation, as JSON, and its tokens and cost divided by the number of its samples."""

    generation: Mapping[str, Any] | None = None
    tokens_per_sample: float | None = None
    usd_per_sample: float | None = None


@dataclass(frozen=True)
class IncomingSubmission:
    """All samples of one upload. `full`: it is meant to answer the whole release, so that what is absent is missing.

    `undecided`: the file lacks problems and does not say whether that is meant; see `coverage`.
    """

    name: str
    full: bool
    samples: tuple[IncomingSample, ...]
    unknown: tuple[Notice, ...] = ()
    """Samples whose task_id the release does not have."""
    notices: tuple[Notice, ...] = ()
    declared: DeclaredGeneration = DeclaredGeneration()
    undecided: bool = False

    @property
    def digest(self) -> str:
        """sha256 over (task_id, index, content hash) in that order: equal for equal content in any packing."""
        rows = sorted((sample.task_id, sample.index, sample.content_sha256) for sample in self.samples)
        text = "".join(f"{task_id}\n{index}\n{digest}\n" for task_id, index, digest in rows)
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()

    @property
    def sample_counts(self) -> dict[str, int]:
        """Numbers of samples by problem."""
        counts: dict[str, int] = {}
        for sample in self.samples:
            counts[sample.task_id] = counts.get(sample.task_id, 0) + 1
        return counts


class SampleJudge:
    """Turns received content into incoming samples, numbering each problem's samples in the order of arrival.

    Every method raises PackRefused where a problem has more samples than the catalogue allows.
    """

    def __init__(self, catalogue: Catalogue, limits: UploadLimits) -> None:
        self._catalogue = catalogue
        self._limits = limits
        self._next_index: dict[str, int] = {}

    def of_record(self, data: dict[str, Any], received: bytes, line_number: int) -> IncomingSample:
        """A sample from a decoded record whose task_id is known to the release."""
        task_id = data["task_id"]
        try:
            solution = solution_from(data)
        except RecordError as error:
            return self._incoming(task_id, received, b"", f"the record's {error}", line_number)
        return self._of_solution(solution, received, line_number)

    def of_files(self, task_id: str, files: Sequence[SourceFile]) -> IncomingSample:
        """A sample from files."""
        return self._of_solution(FileSolution(task_id=task_id, files=list(files)), repr(files).encode(), 0)

    def of_unreadable(self, task_id: str, received: bytes, reason: str) -> IncomingSample:
        """A sample whose content cannot even be a record."""
        return self._incoming(task_id, received, b"", reason, 0)

    def _of_solution(self, solution: Solution, received: bytes, line_number: int) -> IncomingSample:
        reason = self._why_invalid(solution)
        try:
            record = solution.to_line()
        except RecordError as error:
            return self._incoming(solution.task_id, received, b"", reason or f"the record {error}", line_number)
        incoming = self._incoming(solution.task_id, record, record, reason, line_number)
        if reason or not isinstance(solution, FileSolution):
            return incoming
        return replace(incoming, language=self._catalogue.rules_for(solution.task_id).language_of(solution.files))

    def _incoming(self, task_id: str, content: bytes, record: bytes, reason: str, line_number: int) -> IncomingSample:
        index = self._next_index.get(task_id, 0)
        self._check_room(task_id, index, line_number)
        self._next_index[task_id] = index + 1
        readable = reason.encode("utf-8", "backslashreplace").decode()
        return IncomingSample(task_id, index, line_number, record, hashlib.sha256(content).hexdigest(), readable)

    def _check_room(self, task_id: str, index: int, line_number: int) -> None:
        most = self._catalogue.most_of(task_id)
        if most is not None and index >= most:
            words = f"{task_id} has more than {most} sample{'s'[: most > 1]}, the most that this release takes of it"
            raise PackRefused("too_many_samples", words, line_number or None)

    def _why_invalid(self, solution: Solution) -> str:
        if solution.schema_version != SOLUTION_SCHEMA_VERSION:
            return f"schema_version is {solution.schema_version}; only {SOLUTION_SCHEMA_VERSION} is known"
        if not isinstance(solution, FileSolution):
            return "patch solutions are not graded; send whole files"
        return self._why_too_much(solution) or self._catalogue.rules_for(solution.task_id).why_bad(solution.files)

    def _why_too_much(self, solution: FileSolution) -> str:
        if len(solution.files) > self._limits.files_per_sample:
            return f"the solution has {len(solution.files)} files, at most {self._limits.files_per_sample} are allowed"
        big = next((file for file in solution.files if len(file.content) > self._limits.file_bytes), None)
        return f"{big.path!r} is larger than {self._limits.file_bytes // MEBIBYTE} MiB" if big else ""


def as_files(files: Mapping[str, str] | Sequence[SourceFile]) -> list[SourceFile]:
    """Files given as path to content, or as they are."""
    if isinstance(files, Mapping):
        return [SourceFile(path=path, content=content) for path, content in files.items()]
    return list(files)
