"""Reads and writes ComputeEval's problem packs and solution packs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from problems.formats.bounded import DEFAULT_LIMITS, UploadLimits, write_tar_gz
from problems.formats.compute_eval.containers import METADATA_NAME, NumberedLine, read_container, split_lines
from problems.formats.errors import PackRefused, raise_all
from problems.spec.digests import pack_digest, record_md5
from problems.spec.errors import RecordError
from problems.spec.pack import (
    ProblemPackMetadata,
    SolutionPackMetadata,
    parse_problem_metadata,
    parse_solution_metadata,
)
from problems.spec.profile import Profile
from problems.spec.record import ProblemRecord
from problems.spec.records import parse_record
from problems.spec.solution import Solution, load_object, solution_from

PROBLEMS_NAME = "problems.jsonl"
SOLUTIONS_NAME = "solutions.jsonl"
_TASK_ID = re.compile(rb'"task_id"\s*:\s*"((?:[^"\\]|\\.)*)"')
_OLD_FORMAT_HINT = "; the record has the shape of the packs of November 2025, use those of March 2026 or later"


@dataclass(frozen=True)
class PackRecord:
    """One problem and the very line that it was read from, newline included."""

    line: bytes
    problem: ProblemRecord

    @property
    def md5(self) -> str:
        """ComputeEval's hash of the record."""
        return record_md5(self.line)


HASHES_AGREE = "every hash and the count agree with metadata.json"
COUNT_AGREES = "the count agrees with metadata.json, which states no hashes"


@dataclass(frozen=True)
class ProblemPack:
    """A release as it stands in a file; `jsonl_bytes` and `metadata_bytes` are kept as they were.

    `agreement` says what of the file's own metadata.json was compared with its problems; empty if it has none.
    """

    metadata: ProblemPackMetadata
    metadata_bytes: bytes
    records: tuple[PackRecord, ...]
    jsonl_bytes: bytes
    agreement: str = ""

    @property
    def profile(self) -> Profile:
        """How the records are read."""
        return self.metadata.profile

    @property
    def digest(self) -> str:
        """The content's identity: sha256 of problems.jsonl."""
        return pack_digest(self.jsonl_bytes)


@dataclass(frozen=True)
class SolutionPack:
    """A pack of solutions whose lines have not been judged yet; `datapack_name` comes from the file's name."""

    metadata: SolutionPackMetadata
    lines: tuple[NumberedLine, ...]
    datapack_name: str


def read_problem_pack(source: Path | BinaryIO, limits: UploadLimits = DEFAULT_LIMITS) -> ProblemPack:
    """Read a problem pack and verify its counts and hashes; raises PackRefused."""
    metadata_bytes, jsonl = read_container(source, PROBLEMS_NAME, limits)
    pack = problem_pack_from(metadata_bytes, jsonl, limits)
    has_hashes = bool(pack.metadata.task_id_hashes)
    return replace(pack, agreement=HASHES_AGREE if has_hashes else COUNT_AGREES)


def problem_pack_from(metadata_bytes: bytes, jsonl: bytes, limits: UploadLimits = DEFAULT_LIMITS) -> ProblemPack:
    """The same from the two members' bytes; raises PackRefused."""
    try:
        metadata = parse_problem_metadata(metadata_bytes)
    except RecordError as error:
        raise PackRefused("bad_metadata", f"metadata.json: {error}") from error
    lines = split_lines(jsonl, limits)
    faults = list(_wrong_hashes(lines, metadata.task_id_hashes)) if metadata.task_id_hashes else []
    records = _read_records(lines, metadata, faults)
    if not faults and metadata.total_count != len(records):
        words = f"metadata.json says {metadata.total_count} problems, problems.jsonl has {len(records)}"
        faults.append(PackRefused("wrong_count", words))
    raise_all(faults, [record.problem for record in records])
    return ProblemPack(metadata, metadata_bytes, tuple(records), jsonl)


def _wrong_hashes(lines: Sequence[NumberedLine], hashes: dict[str, str]) -> Iterator[PackRefused]:
    known = set(hashes.values())
    expected = list(hashes)
    for index, line in enumerate(lines):
        digest = record_md5(line.line)
        if digest not in known:
            named = _named_task(line.line)
            task_id = expected[index] if named not in hashes and index < len(expected) else named
            stated = hashes.get(task_id, "nothing")
            message = (
                f"task `{task_id}` is not the record that metadata.json describes: its md5 is {digest}, not {stated}"
            )
            yield PackRefused("wrong_hash", message, line.number)


def _named_task(line: bytes) -> str:
    match = _TASK_ID.search(line)
    return match[1].decode("utf-8", "replace") if match else "?"


def _read_records(
    lines: Sequence[NumberedLine], metadata: ProblemPackMetadata, faults: list[PackRefused]
) -> list[PackRecord]:
    """The records that can be read; `faults` gets the others'. A line whose hash is wrong has its fault already."""
    records: dict[str, PackRecord] = {}
    named = {fault.line for fault in faults}
    for line in lines:
        try:
            problem = _read_problem(line, metadata.profile)
            if problem.task_id in records:
                raise PackRefused("duplicate_task", f"task `{problem.task_id}` occurs a second time", line.number)
            if line.number not in named:
                _check_hash(problem.task_id, line, metadata.task_id_hashes)
            records[problem.task_id] = PackRecord(line.line, problem)
        except PackRefused as refused:
            faults.append(refused)
    return list(records.values())


def _check_hash(task_id: str, line: NumberedLine, hashes: dict[str, str]) -> None:
    stated = hashes.get(task_id, "")
    if hashes and stated != record_md5(line.line):
        words = f"task `{task_id}` has another hash in metadata.json: {stated or 'none'}"
        raise PackRefused("wrong_hash", words, line.number)


def _read_problem(line: NumberedLine, profile: Profile) -> ProblemRecord:
    try:
        return parse_record(line.line, profile)
    except RecordError as error:
        hint = _OLD_FORMAT_HINT if b'"arch_list"' in line.line else ""
        raise PackRefused("bad_record", f"task `{_named_task(line.line)}`: {error}{hint}", line.number) from error


def problem_metadata_for(metadata: ProblemPackMetadata, lines: Iterable[tuple[str, bytes]]) -> ProblemPackMetadata:
    """The metadata with the count and hashes of these (task_id, line); raises PackRefused on a task_id used twice."""
    hashes: dict[str, str] = {}
    for task_id, line in lines:
        if task_id in hashes:
            raise PackRefused("duplicate_task", f"task `{task_id}` occurs a second time")
        hashes[task_id] = record_md5(line)
    return metadata.model_copy(update={"task_id_hashes": hashes, "total_count": len(hashes)})


def write_problem_pack(
    target: Path | BinaryIO, metadata: ProblemPackMetadata | bytes, lines: Iterable[bytes] | bytes
) -> None:
    """Write a pack; `metadata` and `lines` given as bytes are written as they are."""
    jsonl = lines if isinstance(lines, bytes) else b"".join(lines)
    head = metadata if isinstance(metadata, bytes) else metadata.to_bytes()
    write_tar_gz(target, {METADATA_NAME: head, PROBLEMS_NAME: jsonl})


def datapack_name(filename: str) -> str:
    """ComputeEval's name for a solutions pack: the file's name without `-solutions.tar.gz`."""
    return filename.replace("-solutions.tar.gz", "")


def graded_filename(name: str) -> str:
    """Where ComputeEval writes what came of the pack with this datapack name."""
    return f"{name}-graded-solutions.jsonl"


def read_solution_pack(
    source: Path | BinaryIO,
    filename: str,
    profile: Profile | None = None,
    limits: UploadLimits = DEFAULT_LIMITS,
) -> SolutionPack:
    """Read a solutions pack's metadata and lines; the release's profile decides which names are valid.

    Its `total_count` is not compared with the lines, as in ComputeEval. Raises PackRefused.
    """
    metadata_bytes, jsonl = read_container(source, SOLUTIONS_NAME, limits)
    try:
        metadata = parse_solution_metadata(metadata_bytes, profile)
    except RecordError as error:
        raise PackRefused("bad_metadata", f"metadata.json: {error}") from error
    return SolutionPack(metadata, tuple(split_lines(jsonl, limits)), datapack_name(filename))


def read_every_solution(pack: SolutionPack) -> list[Solution]:
    """Parse all lines as ComputeEval does: one that cannot be read refuses the pack.

    Lone surrogates are read; only writing them fails. Raises PackRefused.
    """
    return [_read_solution(line) for line in pack.lines]


def _read_solution(line: NumberedLine) -> Solution:
    try:
        return solution_from(load_object(line.line))
    except RecordError as error:
        raise PackRefused("bad_record", f"the record {error}", line.number) from error


def write_solution_pack(
    target: Path | BinaryIO, metadata: SolutionPackMetadata | bytes, lines: Iterable[bytes] | bytes
) -> None:
    """Write a solutions pack; bytes are written as they are."""
    jsonl = lines if isinstance(lines, bytes) else b"".join(lines)
    head = metadata if isinstance(metadata, bytes) else metadata.to_bytes()
    write_tar_gz(target, {METADATA_NAME: head, SOLUTIONS_NAME: jsonl})
