"""Holds graded rows against another evaluator's: verdicts, times and speedups. A row is one line of a graded file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]

TOLERANCE = 0.03
LEAST_MS = 1.0
"""Shorter times are not compared: at a few microseconds a launch's own spread is more than the tolerance."""


@dataclass(frozen=True)
class Counts:
    """How samples ended. `alone` counts those with a baseline that was measured again with the device to itself."""

    graded: int
    passed: int
    skipped: int
    flagged: int
    alone: int


@dataclass(frozen=True)
class Ratio:
    """One time over another of the same task."""

    task_id: str
    ratio: float
    ms: float
    other_ms: float


@dataclass(frozen=True)
class Agreement:
    """How many ratios there are and which are not within the tolerance of 1, the smallest first."""

    n: int
    outliers: tuple[Ratio, ...]

    @property
    def n_within(self) -> int:
        return self.n - len(self.outliers)


def read_rows(path: Path) -> list[Row]:
    """The rows of a graded file, none where it is not there."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def counts(rows: Sequence[Row]) -> Counts:
    ours = [row.get("podium") or {} for row in rows]
    return Counts(
        graded=len(rows),
        passed=sum(bool(row["passed"]) for row in rows),
        skipped=sum(bool(row.get("skipped")) for row in rows),
        flagged=sum(bool(one.get("flags")) for one in ours),
        alone=sum(any("@alone@" in found["key"] for found in one.get("measurements", ())) for one in ours),
    )


def differing_verdicts(ours: Sequence[Row], theirs: Sequence[Row]) -> list[str]:
    """The tasks, graded by both, that only one of them lets pass."""
    passed = {row["task_id"]: bool(row["passed"]) for row in theirs}
    return [row["task_id"] for row in ours if bool(row["passed"]) != passed.get(row["task_id"], bool(row["passed"]))]


def times(ours: Sequence[Row], theirs: Sequence[Row]) -> Agreement:
    """Our times over theirs, where both have one and theirs is at least LEAST_MS."""
    known = {row["task_id"]: row["solution_time"] or 0.0 for row in theirs}
    pairs = [(row["task_id"], row["solution_time"], known.get(row["task_id"], 0.0)) for row in ours]
    return _agreement(Ratio(task, ms / other, ms, other) for task, ms, other in pairs if ms and other >= LEAST_MS)


def speedups(rows: Sequence[Row]) -> Agreement:
    """Baseline's time over the candidate's; both are the same code, so it should be 1."""
    timed = [row for row in rows if row.get("speedup")]
    return _agreement(
        Ratio(row["task_id"], row["speedup"], row["solution_time"], row["baseline_time"]) for row in timed
    )


def _agreement(ratios: Iterable[Ratio]) -> Agreement:
    found = sorted(ratios, key=lambda one: one.ratio)
    return Agreement(len(found), tuple(one for one in found if abs(one.ratio - 1) > TOLERANCE))
