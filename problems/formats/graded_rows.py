"""Graded rows as results to be taken in: ComputeEval's own, those of `podium evaluate`, and lean ones.

A lean row names its problem by two fingerprints in place of its text and carries no outputs: it may be published.
"""

import gzip
import hashlib
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from problems.formats.bounded import DEFAULT_LIMITS, MEBIBYTE, UploadLimits, opened
from problems.formats.compute_eval.containers import NumberedLine, split_lines
from problems.formats.errors import PackRefused
from problems.spec.digests import canonical_json, grading_digest
from problems.spec.errors import RecordError, explain
from problems.spec.profile import Profile
from problems.spec.records import record_from
from problems.spec.solution import load_object

_GZIP_MAGIC = b"\x1f\x8b"
_OUTPUTS = ("build_output", "test_output", "benchmark_output", "solution_metrics", "baseline_metrics")
UNSETTLED = frozenset({"skipped", "platform_error"})
"""Verdicts that say nothing of the sample."""
_FINGERPRINTS = frozenset({"record_md5", "grading_digest", "inputs"})
"""Keys that name the graded problem, not the outcome."""


class GradedRow(BaseModel):
    """One row; times in milliseconds. `podium` is None in a row that ComputeEval wrote."""

    task_id: str
    passed: bool
    skipped: bool
    solution: dict[str, Any]
    problem: dict[str, Any] = Field(default_factory=dict)
    build_output: str | None = None
    test_output: str | None = None
    benchmark_output: str | None = None
    solution_time: FiniteFloat | None = None
    baseline_time: FiniteFloat | None = None
    podium: dict[str, Any] | None = None

    @property
    def index(self) -> int | None:
        """The sample's number from zero; None where only the order of rows tells it."""
        index = (self.podium or {}).get("sample")
        return index if isinstance(index, int) and index >= 0 else None

    @property
    def verdict(self) -> str:
        """The row's own; in a row that ComputeEval wrote, what its outputs amount to."""
        if self.podium is not None:
            return str(self.podium.get("verdict", ""))
        if self.passed or self.skipped:
            return "passed" if self.passed else "skipped"
        return _failure(self.build_output or "", self.test_output)

    @property
    def record_md5(self) -> str:
        """ComputeEval's hash of the problem's record; empty where the row does not state it."""
        return str((self.podium or {}).get("record_md5", ""))

    @property
    def answer(self) -> dict[str, Any]:
        """The solution as it was handed in: without the name that graders add."""
        return {key: value for key, value in self.solution.items() if key != "datapack_name"}

    @property
    def content_sha256(self) -> str:
        """The same for the same result, whole or lean."""
        ours = {key: value for key, value in _published(self.podium or {}).items() if key not in _FINGERPRINTS}
        times = [self.solution_time, self.baseline_time]
        content = [self.task_id, self.answer, self.passed, self.skipped, times, ours]
        return hashlib.sha256(canonical_json(content)).hexdigest()

    def stated_grading_digest(self, profile: Profile) -> str:
        """The digest of the graded problem: as the row states it, else of the problem it holds. Raises RecordError."""
        stated = (self.podium or {}).get("grading_digest")
        if stated:
            return str(stated)
        if "metadata" not in self.problem:
            raise RecordError("holds neither its problem nor that problem's fingerprints")
        problem = record_from(self.problem, profile)
        return grading_digest(problem, problem.withheld)


def _failure(build_output: str, test_output: str | None) -> str:
    """ComputeEval writes a test's output only where the build was done, and its own words before those of a tool."""
    last = build_output if test_output is None else test_output
    if last.startswith("[VALIDATION ERROR]"):
        return "invalid" if test_output is None else "source_reference_missing"
    if "[TIMEOUT EXPIRED" in last:
        return "timed_out"
    return "build_failed" if test_output is None else "test_failed"


@dataclass(frozen=True)
class NumberedRow:
    """A row with the number of its line, from one."""

    number: int
    row: GradedRow


def read_graded_rows(source: Path | BinaryIO, limits: UploadLimits = DEFAULT_LIMITS) -> list[NumberedRow]:
    """Every row of a graded file, gzipped or not. Raises PackRefused."""
    lines = split_lines(_content(source, limits), limits)
    if not lines:
        raise PackRefused("empty", "the file holds no graded rows")
    if len(lines) > limits.samples:
        raise PackRefused("too_many_samples", f"the file has {len(lines)} rows, at most {limits.samples} are read")
    return [NumberedRow(line.number, _row(line)) for line in lines]


def _content(source: Path | BinaryIO, limits: UploadLimits) -> bytes:
    with opened(source) as file:
        packed = file.read(limits.total_bytes + 1)
    try:
        data = _unzipped(packed, limits.total_bytes) if packed.startswith(_GZIP_MAGIC) else packed
    except (OSError, EOFError, zlib.error) as error:
        raise PackRefused("bad_archive", f"the gzipped file is damaged: {error}") from error
    if len(data) > limits.total_bytes:
        raise PackRefused("too_large", f"the file holds more than {limits.total_bytes // MEBIBYTE} MiB")
    return data


def _unzipped(packed: bytes, limit_bytes: int) -> bytes:
    """At most a byte more than the limit."""
    reader = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    data = reader.decompress(packed, limit_bytes + 1)
    if len(data) <= limit_bytes and (not reader.eof or reader.unused_data):
        raise EOFError("it ends too early or something follows it")
    return data


def _row(line: NumberedLine) -> GradedRow:
    try:
        return GradedRow.model_validate(load_object(line.line))
    except ValidationError as error:
        raise PackRefused("bad_row", f"the row's {explain(error)}", line.number) from error
    except RecordError as error:
        raise PackRefused("unreadable_line", f"the row {error}", line.number) from error


def lean_file(source: Path, limits: UploadLimits = DEFAULT_LIMITS) -> bytes:
    """The rows of a graded file of ours without problem text and outputs, gzipped; equal rows give equal bytes.

    Raises PackRefused where a row is not of `podium evaluate`.
    """
    rows = [_lean(line) for line in split_lines(_content(source, limits), limits)]
    rows.sort(key=lambda row: (row["task_id"], row["podium"]["sample"]))
    return gzip.compress(b"".join(canonical_json(row) + b"\n" for row in rows), mtime=0)


def _lean(line: NumberedLine) -> dict[str, Any]:
    row = _row(line)
    if row.podium is None or row.index is None:
        raise PackRefused("not_ours", "the row has no `podium` key: `podium evaluate` did not write it", line.number)
    try:
        digest = row.stated_grading_digest(Profile.PODIUM)
    except RecordError as error:
        raise PackRefused("no_problem", f"the row {error}", line.number) from error
    data = load_object(line.line)
    problem = {"task_id": row.task_id, "group": row.problem.get("group", "")}
    if "kind" in row.problem:
        problem["kind"] = row.problem["kind"]
    podium = {**_published(row.podium), "grading_digest": digest}
    return {**data, **dict.fromkeys(_OUTPUTS), "problem": problem, "podium": podium}


def _published(podium: dict[str, Any]) -> dict[str, Any]:
    """Podium's part of a row with the fields of cases that everybody may read."""
    if "cases" not in podium:
        return podium
    cases = [
        {**case, "fields": [field for field in case["fields"] if field["audience"] == "public"]}
        for case in podium["cases"]
    ]
    return {**podium, "cases": cases}
