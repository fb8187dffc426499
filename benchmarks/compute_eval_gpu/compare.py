"""Compares graded rows: speedups with 1, verdicts and times with another evaluator's."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
"""One line of a graded file."""


@dataclass(frozen=True)
class Demand:
    """How near to 1 how large a share of ratios shall be. Times below `least_ms` are not looked at."""

    tolerance: float
    least_ms: float
    share: float


QUICK = Demand(tolerance=0.03, least_ms=0.1, share=0.92)
RANKED = Demand(tolerance=0.01, least_ms=1.0, share=0.95)
RIVAL = Demand(tolerance=0.03, least_ms=1.0, share=0.95)
"""The demand on times over ComputeEval's. Below `least_ms` a launch's own spread exceeds the tolerance."""


@dataclass(frozen=True)
class TimeRatio:
    """One time over another of the same task."""

    task_id: str
    ratio: float
    ms: float
    other_ms: float


@dataclass(frozen=True)
class Agreement:
    """How many ratios there are and which lie outside the tolerance, the smallest first."""

    demand: Demand
    n: int
    outside: tuple[TimeRatio, ...]

    @property
    def n_within(self) -> int:
        return self.n - len(self.outside)

    @property
    def share(self) -> float | None:
        return self.n_within / self.n if self.n else None


@dataclass(frozen=True)
class Counts:
    graded: int
    passed: int
    skipped: int
    flagged: int


def read_rows(path: Path) -> list[Row]:
    """The rows of a graded file, none if it is not there. The last line may be cut short."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def counts(rows: Sequence[Row]) -> Counts:
    return Counts(
        graded=len(rows),
        passed=sum(bool(row["passed"]) for row in rows),
        skipped=sum(bool(row.get("skipped")) for row in rows),
        flagged=sum(bool((row.get("podium") or {}).get("flags")) for row in rows),
    )


def speedups(rows: Iterable[Row], demand: Demand) -> Agreement:
    """The baseline's time over the candidate's. Both are the same code, so the ratio should be 1."""
    timed = [row for row in rows if row.get("speedup") and row["solution_time"] >= demand.least_ms]
    ratios = [TimeRatio(row["task_id"], row["speedup"], row["solution_time"], row["baseline_time"]) for row in timed]
    return _accuracy(ratios, demand)


def times(ours: Iterable[Row], theirs: Sequence[Row]) -> Agreement:
    """Our times over theirs, where both have one."""
    known = {row["task_id"]: row["solution_time"] or 0.0 for row in theirs}
    pairs = [(row["task_id"], row["solution_time"], known.get(row["task_id"], 0.0)) for row in ours]
    ratios = [TimeRatio(task, ms / other, ms, other) for task, ms, other in pairs if ms and other >= RIVAL.least_ms]
    return _accuracy(ratios, RIVAL)


def pooled(accuracies: Sequence[Agreement], demand: Demand) -> Agreement:
    """All their ratios as one."""
    return Agreement(
        demand, sum(one.n for one in accuracies), tuple(ratio for one in accuracies for ratio in one.outside)
    )


def differing_verdicts(ours: Sequence[Row], theirs: Sequence[Row]) -> list[str]:
    """The tasks, graded by both, that only one of them lets pass."""
    passed = {row["task_id"]: bool(row["passed"]) for row in theirs}
    return [row["task_id"] for row in ours if bool(row["passed"]) != passed.get(row["task_id"], bool(row["passed"]))]


def _accuracy(ratios: Iterable[TimeRatio], demand: Demand) -> Agreement:
    found = sorted(ratios, key=lambda one: one.ratio)
    outside = tuple(one for one in found if abs(one.ratio - 1) > demand.tolerance)
    return Agreement(demand, len(found), outside)
