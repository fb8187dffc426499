"""Graded rows as KernelBench's `eval_results.json`: of each problem's number its samples, one file a level.

The times are this judge's: medians, not KernelBench's means rounded to three digits. `metadata` says so.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from problems.formats.graded_rows import UNSETTLED, GradedRow

NO_TIME = -1.0
"""KernelBench's runtime of a sample without a time."""
LEVELS = range(1, 5)
_UNBUILT = frozenset({"build_failed", "invalid", "source_reference_missing"})


@dataclass
class KernelBenchResults:
    """The files by level, and the rows that have no place in them."""

    levels: dict[int, dict[str, list[dict[str, Any]]]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def kernelbench_results(rows: Iterable[GradedRow]) -> KernelBenchResults:
    """Rows of other problems, and those that the judge could not settle, are left out with the reason."""
    found = KernelBenchResults()
    seen: dict[str, int] = {}
    for row in rows:
        sample = seen.get(row.task_id, 0) if row.index is None else row.index
        seen[row.task_id] = sample + 1
        place = _place(row.task_id)
        if place is None:
            found.left_out.append(f"{row.task_id}: its name has no level and number of KernelBench")
        elif row.verdict in UNSETTLED:
            found.left_out.append(f"{row.task_id}, sample {sample + 1}: {row.verdict}")
        else:
            level, number = place
            found.levels.setdefault(level, {}).setdefault(str(number), []).append(_entry(row, sample))
    return found


def _place(task_id: str) -> tuple[int, int] | None:
    """Level and number of `…level1-12-a-name`, as imports name KernelBench's problems."""
    parts = task_id.split("-")
    for part, after in pairwise(parts):
        level = part.removeprefix("level")
        if level != part and level in map(str, LEVELS) and after.isascii() and after.isdigit() and len(after) < 6:
            return int(level), int(after)
    return None


def _entry(row: GradedRow, sample: int) -> dict[str, Any]:
    podium = row.podium or {}
    known = podium.get("provenance") or {}
    is_timed = row.passed and row.solution_time is not None
    hardware = known.get("gpu") or known.get("cpu_model") or ""
    metadata = {
        "hardware": hardware,
        "judge": "podium",
        "verdict": row.verdict,
        "runtime": "median in ms over the judge's calls and processes; of several cases their geometric mean",
        **({"baseline_ms": row.baseline_time} if row.baseline_time is not None else {}),
        **({"reason": str(podium["reason"])[:2000]} if podium.get("reason") else {}),
    }
    return {
        "sample_id": sample,
        "compiled": row.verdict not in _UNBUILT,
        "correctness": row.passed,
        "metadata": metadata,
        "runtime": row.solution_time if is_timed else NO_TIME,
        "runtime_stats": _stats(podium, hardware) if is_timed else {},
    }


def _stats(podium: dict[str, Any], hardware: str) -> dict[str, Any]:
    """Statistics of the processes of a single timed case; empty for several, whose times do not mix."""
    own = [one for one in podium.get("measurements") or [] if one.get("role") == "candidate"]
    runs = [float(ms) for ms in own[0].get("runs_ms") or []] if len(own) == 1 else []
    if not runs:
        return {}
    mean = sum(runs) / len(runs)
    deviation = (sum((ms - mean) ** 2 for ms in runs) / len(runs)) ** 0.5
    return {
        "mean": mean, "std": deviation, "min": min(runs), "max": max(runs), "num_trials": len(runs),
        "hardware": hardware,
    }  # fmt: skip
