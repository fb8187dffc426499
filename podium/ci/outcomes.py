"""Outcomes of samples, read from the graded rows, in the form that reports need."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from podium.evaluation.inputs import Pack, SampleToGrade
from podium.evaluation.run import GradingFault
from problems.spec.solution import FileSolution
from runners.wire.protocol import FlagScope

OUTPUT_CHARACTERS = 20_000
"""Characters of an output that are reported, from its end; the graded rows have the whole."""
_PLACE_CHARACTERS = 200_000
_AFTER_PATH = re.compile(r"(?:\((\d{1,7})\)|:(\d{1,7})\b|[\"'], line (\d{1,7}))")
"""The forms in which compilers and Python write a line after a file's name: `(12)`, `:12`, `", line 12`."""
_BEFORE_PATH = frozenset("/ \t\"'([")


class State(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    FAULT = "fault"
    """This machine could not grade the sample. Not a verdict on the solution."""


@dataclass(frozen=True)
class AnnotationPlace:
    """Where a reader finds the sample: its file, and the line that the error names, or 0."""

    file: str
    line: int = 0


@dataclass(frozen=True)
class SampleOutcome:
    """One sample. `output` is the end of what its build or test printed; anybody may have written it."""

    task_id: str
    index: int
    group: str
    state: State
    verdict: str
    reason: str
    output: str
    flags: tuple[str, ...]
    in_doubt: bool
    """A flag says that the verdict holds only if a person decides so."""
    wall_ms: float
    place: AnnotationPlace

    @property
    def name(self) -> str:
        return f"{self.task_id} sample {self.index + 1}"


@dataclass(frozen=True)
class PackOutcomes:
    """All samples of one pack. `pass_at_1` is None if no sample was graded or all were skipped."""

    name: str
    outcomes: tuple[SampleOutcome, ...]
    pass_at_1: float | None

    def of(self, state: State) -> list[SampleOutcome]:
        return [one for one in self.outcomes if one.state is state]


def outcomes_of(pack: Pack, graded: Path, faults: Sequence[GradingFault], pass_at_1: float | None) -> PackOutcomes:
    """Read the outcomes of the pack's samples from its graded file, in the pack's order."""
    found = {(row["task_id"], row["podium"]["sample"]): row for row in _rows(graded)}
    reasons = {fault.sample.key: fault.reason for fault in faults if fault.sample.pack == pack.name}
    outcomes = (
        _of_row(sample, found[sample.key], pack.source)
        if sample.key in found
        else _of_fault(sample, reasons.get(sample.key, "no row was written"), pack.source)
        for sample in pack.samples
    )
    return PackOutcomes(pack.name, tuple(outcomes), pass_at_1)


def _rows(graded: Path) -> Iterator[dict[str, Any]]:
    with graded.open("rb") as lines:
        for line in lines:
            row = json.loads(line)
            yield {key: row[key] for key in ("task_id", "passed", "skipped", "build_output", "test_output", "podium")}


def _of_row(sample: SampleToGrade, row: dict[str, Any], source: Path) -> SampleOutcome:
    podium = row["podium"]
    state = State.PASSED if row["passed"] else State.SKIPPED if row["skipped"] else State.FAILED
    output = "" if state is State.PASSED else (row["test_output"] or row["build_output"] or "").strip()
    return SampleOutcome(
        task_id=sample.incoming.task_id,
        index=sample.incoming.index,
        group=sample.problem.group,
        state=state,
        verdict=podium["verdict"],
        reason=podium["reason"],
        output=output[-OUTPUT_CHARACTERS:],
        flags=tuple(f"{flag['code']} ({flag['scope']}): {flag['detail']}" for flag in podium["flags"]),
        in_doubt=any(flag["scope"] == FlagScope.VERDICT for flag in podium["flags"]),
        wall_ms=sum(step["wall_ms"] for step in podium["steps"]),
        place=_place(sample, source, output),
    )


def _of_fault(sample: SampleToGrade, reason: str, source: Path) -> SampleOutcome:
    incoming, place = sample.incoming, _place(sample, source, "")
    return SampleOutcome(
        incoming.task_id,
        incoming.index,
        sample.problem.group,
        State.FAULT,
        "not graded",
        reason,
        "",
        (),
        False,
        0.0,
        place,
    )


def _place(sample: SampleToGrade, source: Path, output: str) -> AnnotationPlace:
    """The file that the output names, else the first one, of a folder of solutions; otherwise the pack itself."""
    solution, incoming = sample.solution, sample.incoming
    if not source.is_dir():
        return AnnotationPlace(_shown(source), incoming.line_number if source.suffix == ".jsonl" else 0)
    paths = [file.path for file in solution.files] if isinstance(solution, FileSolution) else []
    path, line = named_place(output, paths)
    return AnnotationPlace(_shown(source / incoming.folder / (path or next(iter(paths), ""))), line)


def _shown(path: Path) -> str:
    """Relative to the working folder, where the file lies in it: the form that GitHub finds in a checkout."""
    whole = path.resolve()
    return whole.relative_to(Path.cwd()).as_posix() if whole.is_relative_to(Path.cwd()) else whole.as_posix()


def named_place(output: str, paths: Sequence[str]) -> tuple[str, int]:
    """The first of these files that an error in a compiler's or Python's output names, and the line; else ("", 0)."""
    for line in output[:_PLACE_CHARACTERS].splitlines():
        for path in paths:
            if number := _line_number(line, path):
                return path, number
    return "", 0


def _line_number(line: str, path: str) -> int:
    at = line.find(path) if path else -1
    if at < 0 or (at > 0 and line[at - 1] not in _BEFORE_PATH):
        return 0
    found = _AFTER_PATH.match(line, at + len(path))
    if found is None or (found[3] is None and "error" not in line):
        return 0
    return int(found[1] or found[2] or found[3])
