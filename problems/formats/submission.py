"""Reads what people submit, for the web, the API, the command line and the offline check alike."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from problems.formats.bounded import DEFAULT_LIMITS, UploadLimits, opened
from problems.formats.catalogue import Catalogue
from problems.formats.compute_eval.containers import NumberedLine, split_lines
from problems.formats.compute_eval.packs import (
    SolutionPack,
    read_every_solution,
    read_solution_pack,
)
from problems.formats.errors import PackRefused, raise_all
from problems.formats.incoming import (
    DeclaredGeneration,
    IncomingSample,
    IncomingSubmission,
    Notice,
    SampleJudge,
    as_files,
)
from problems.formats.solution_zip import read_solution_zip
from problems.spec.errors import RecordError
from problems.spec.generation import read_generation
from problems.spec.solution import SOLUTION_SCHEMA_VERSION, SourceFile, load_object

__all__ = [
    "Catalogue",
    "IncomingSample",
    "IncomingSubmission",
    "Notice",
    "PackRefused",
    "UploadLimits",
    "check_solution_pack",
    "check_tasks_are_known",
    "read_samples",
    "read_submission",
    "single_solution",
]

_GZIP_MAGIC = b"\x1f\x8b"
_ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")


def read_submission(
    source: Path | BinaryIO,
    filename: str,
    catalogue: Catalogue,
    limits: UploadLimits = DEFAULT_LIMITS,
    strict: bool = False,
) -> IncomingSubmission:
    """Read a solutions pack, a zip of folders or a `.jsonl` file and check every sample.

    `source` must be seekable. A record whose task_id can be read but whose content is bad becomes an invalid sample.
    `strict` adds ComputeEval's rules for a whole pack. Raises PackRefused, also where a task_id is unknown.
    """
    incoming = read_samples(source, filename, catalogue, limits, strict)
    check_tasks_are_known(incoming)
    return incoming


def check_tasks_are_known(incoming: IncomingSubmission) -> None:
    """Raises PackRefused if there are samples of unknown tasks."""
    if incoming.unknown:
        first, *others = incoming.unknown
        rest = f" {len(others)} more are unknown." if others else ""
        fine = sum(1 for sample in incoming.samples if not sample.invalid_reason)
        also = [PackRefused("unknown_task", one.message, one.line) for one in others]
        raise PackRefused("unknown_task", f"{first.message}{rest} {fine} other samples are fine.", first.line, also)


def read_samples(
    source: Path | BinaryIO,
    filename: str,
    catalogue: Catalogue,
    limits: UploadLimits = DEFAULT_LIMITS,
    strict: bool = False,
) -> IncomingSubmission:
    """The same, but samples with an unknown task_id are listed in `unknown` and do not refuse the file."""
    with opened(source) as file:
        file.seek(0)
        magic = file.read(4)
        file.seek(0)
        if magic.startswith(_GZIP_MAGIC):
            return _read_pack(file, filename, catalogue, limits, strict)
        if magic.startswith(_ZIP_MAGICS):
            return _read_zip(file, filename, catalogue, limits, strict)
        if filename.endswith(".jsonl"):
            return _read_jsonl(file, filename, catalogue, limits)
    raise PackRefused("unknown_format", f"{filename!a} is neither a solutions pack (.tar.gz), a zip nor a .jsonl file")


def single_solution(
    task_id: str,
    files: Mapping[str, str] | Sequence[SourceFile],
    catalogue: Catalogue,
    name: str = "",
    limits: UploadLimits = DEFAULT_LIMITS,
) -> IncomingSubmission:
    """A partial submission of one sample; raises PackRefused where the release has no such problem."""
    if task_id not in catalogue.problems:
        raise PackRefused("unknown_task", _unknown_message(task_id, catalogue))
    sample = SampleJudge(catalogue, limits).of_files(task_id, as_files(files))
    return IncomingSubmission(name or task_id, False, (sample,))


def _read_pack(
    file: BinaryIO, filename: str, catalogue: Catalogue, limits: UploadLimits, strict: bool
) -> IncomingSubmission:
    pack = read_solution_pack(file, PurePosixPath(filename).name, catalogue.profile, limits)
    if pack.metadata.release != catalogue.release_name:
        words = f"the pack answers release {pack.metadata.release}, but this is release {catalogue.release_name}"
        raise PackRefused("wrong_release", f"{words}; send it there, or correct `release` in its metadata.json")
    if strict:
        check_solution_pack(pack, catalogue)
    selected = set(catalogue.task_ids(pack.metadata.groups or None))
    lines = _read_lines(pack.lines, catalogue, limits, selected if strict else catalogue.problems.keys())
    notices = _count_notices(pack.metadata.total_count, len(pack.lines)) + _absence_notices(lines.samples, selected)
    declared, faults = _declared(pack.metadata.generation, len(pack.lines))
    full = len(selected) == len(catalogue.problems)
    return IncomingSubmission(pack.datapack_name, full, lines.samples, lines.unknown, notices + faults, declared)


def _declared(data: Any, n_samples: int) -> tuple[DeclaredGeneration, tuple[Notice, ...]]:
    """The declaration in the metadata's key `generation` for a pack of so many samples, and the parts left out of
    it."""
    generation, faults = read_generation(data)
    notices = tuple(Notice(words) for words in faults)
    tokens, usd = generation.usage.tokens, generation.usage.cost
    per_sample = (None if total is None else total / n_samples for total in (tokens, usd))
    return DeclaredGeneration(generation.to_json() or None, *per_sample), notices


def _read_zip(
    file: BinaryIO, filename: str, catalogue: Catalogue, limits: UploadLimits, strict: bool
) -> IncomingSubmission:
    found = read_solution_zip(file, catalogue, limits)
    covered = {sample.task_id for sample in found.samples}
    absent = [task_id for task_id in catalogue.problems if task_id not in covered]
    if strict and absent:
        raise _not_covered(absent, filename)
    if not found.samples and not found.unknown:
        raise PackRefused(
            "empty", "the zip holds no problem's folder; make one for each task_id, as cpp_matmul/0/solution.cpp"
        )
    name = PurePosixPath(filename).name.removesuffix(".zip")
    return IncomingSubmission(name, not absent, found.samples, found.unknown, found.notices, undecided=bool(absent))


def _read_jsonl(file: BinaryIO, filename: str, catalogue: Catalogue, limits: UploadLimits) -> IncomingSubmission:
    data = file.read(limits.packed_bytes + 1)
    if len(data) > limits.packed_bytes:
        raise PackRefused("too_large", f"the file is larger than {limits.packed_bytes} bytes")
    lines = _read_lines(split_lines(data, limits), catalogue, limits, catalogue.problems.keys())
    full = {sample.task_id for sample in lines.samples} >= catalogue.problems.keys()
    name = PurePosixPath(filename).name.removesuffix(".jsonl")
    return IncomingSubmission(name, full, lines.samples, lines.unknown, undecided=not full)


@dataclass(frozen=True)
class _Lines:
    samples: tuple[IncomingSample, ...]
    unknown: tuple[Notice, ...]


def _read_lines(
    lines: Sequence[NumberedLine], catalogue: Catalogue, limits: UploadLimits, selected: Set[str]
) -> _Lines:
    """The samples of the selected tasks; the others are told of."""
    if not lines:
        raise PackRefused("empty", "the file holds no solutions")
    if len(lines) > limits.samples:
        raise PackRefused("too_many_samples", f"the file has {len(lines)} samples, at most {limits.samples} are read")
    judge = SampleJudge(catalogue, limits)
    samples: list[IncomingSample] = []
    unknown: list[Notice] = []
    unreadable: list[PackRefused] = []
    for line in lines:
        try:
            data = _read_object(line)
        except PackRefused as fault:
            unreadable.append(fault)
            continue
        if data["task_id"] in selected:
            samples.append(judge.of_record(data, line.line, line.number))
        else:
            unknown.append(Notice(_unknown_message(data["task_id"], catalogue), line.number))
    raise_all(unreadable)
    return _Lines(tuple(samples), tuple(unknown))


def _read_object(line: NumberedLine) -> dict[str, Any]:
    try:
        data = load_object(line.line)
    except RecordError as error:
        raise PackRefused("unreadable_line", f"the record {error}", line.number) from error
    if not isinstance(data.get("task_id"), str):
        raise PackRefused("unreadable_line", "the record has no `task_id`", line.number)
    return data


def _unknown_message(task_id: str, catalogue: Catalogue) -> str:
    shown = task_id[:100].encode("utf-8", "backslashreplace").decode()
    if task_id in catalogue.problems:
        return f"task_id `{shown}` is not among the problems of the pack's groups."
    return f"task_id `{shown}` is not in release {catalogue.release_name}."


def _count_notices(stated: int, found: int) -> tuple[Notice, ...]:
    return () if stated == found else (Notice(f"metadata.json says {stated} solutions, the file has {found}."),)


def _absence_notices(samples: Sequence[IncomingSample], selected: set[str]) -> tuple[Notice, ...]:
    absent = len(selected - {sample.task_id for sample in samples})
    return (Notice(f"{absent} of {len(selected)} problems have no sample."),) if absent else ()


def check_solution_pack(pack: SolutionPack, catalogue: Catalogue) -> None:
    """ComputeEval's rules for a whole pack: release, readable records, schema versions, groups, coverage.

    Records of other tasks are no fault of the pack; the reader leaves them out. Raises PackRefused.
    """
    if pack.metadata.release != catalogue.release_name:
        raise PackRefused("wrong_release", f"the pack answers release {pack.metadata.release}")
    solutions = read_every_solution(pack)
    for line, solution in zip(pack.lines, solutions, strict=True):
        if solution.schema_version != SOLUTION_SCHEMA_VERSION:
            message = f"schema_version is {solution.schema_version}, not {SOLUTION_SCHEMA_VERSION}"
            raise PackRefused("wrong_schema", message, line.number)
    selected = catalogue.task_ids(pack.metadata.groups or None)
    if not selected:
        raise PackRefused("no_problems", f"the release has no problems in the groups {pack.metadata.groups}")
    answered = {solution.task_id for solution in solutions}
    if absent := [task_id for task_id in selected if task_id not in answered]:
        raise _not_covered(absent, pack.datapack_name)


def _not_covered(absent: Sequence[str], name: str) -> PackRefused:
    shown = ", ".join(absent[:20]) + (f" and {len(absent) - 20} more" if len(absent) > 20 else "")
    return PackRefused("not_covered", f"{name} has no solution for {len(absent)} problems: {shown}")
