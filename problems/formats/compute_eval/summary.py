"""ComputeEval's summary of graded samples, number for number.

Means and percentiles go through numpy because the reference does: the last digits depend on its order of summing.
"""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from problems.formats.compute_eval.summary_row import SummaryRow


def summary(
    rows: Iterable[SummaryRow], groups: Sequence[str] | None, ks: Sequence[int], profile_mode: str | None
) -> dict[str, Any]:
    """The summary of one solutions pack; raises ValueError on a k below one.

    Where ComputeEval would print NaN because every problem is skipped, the value is None.
    """
    samples = list(rows)
    counts = _Counts.of(samples)
    result: dict[str, Any] = {
        "pass_at_k": {"skipped": float(counts.skipped), **counts.pass_at_k(ks)},
        "total_problem_count": counts.skipped + len(counts.samples),
        "evaluated_problem_count": len(counts.samples),
    }
    if groups is not None:
        result["groups"] = list(groups)
    if groups:
        result["metrics_by_group"] = _by_group(samples, ks)
    if profile_mode:
        result.update(_performance(samples))
    return result


def dump_summary(result: dict[str, Any]) -> str:
    """The text that ComputeEval prints, without a newline at its end."""
    return json.dumps(result, indent=2, allow_nan=False)


@dataclass(frozen=True)
class _Counts:
    """Samples and passes of every problem that was not skipped whole."""

    skipped: int
    samples: list[int]
    passed: list[int]

    @classmethod
    def of(cls, rows: Iterable[SummaryRow]) -> "_Counts":
        by_task: dict[str, list[SummaryRow]] = {}
        for row in rows:
            by_task.setdefault(row.task_id, []).append(row)
        kept = [task for task in by_task.values() if not all(row.skipped for row in task)]
        passed = [sum(row.passed for row in task) for task in kept]
        return cls(len(by_task) - len(kept), [len(task) for task in kept], passed)

    def pass_at_k(self, ks: Sequence[int]) -> dict[str, float | None]:
        """pass@k for each k that every problem has samples for."""
        return {f"pass@{k}": self._mean_pass_at(k) for k in ks if all(count >= k for count in self.samples)}

    def _mean_pass_at(self, k: int) -> float | None:
        if k <= 0:
            raise ValueError("k must be positive")
        values = [pass_at_k(n, c, k) for n, c in zip(self.samples, self.passed, strict=True)]
        return float(np.array(values).mean()) if values else None


def pass_at_k(samples: int, passed: int, k: int) -> float:
    """Unbiased estimate, 1 − C(n−c, k) / C(n, k), as a product (Chen et al. 2021)."""
    if samples - passed < k:
        return 1.0
    return float(1.0 - np.prod(1.0 - k / np.arange(samples - passed + 1, samples + 1)))


def _by_group(rows: Sequence[SummaryRow], ks: Sequence[int]) -> dict[str, dict[str, Any]]:
    by_group: dict[str, list[SummaryRow]] = {}
    for row in rows:
        by_group.setdefault(row.group, []).append(row)
    return {group: _group_metrics(_Counts.of(members), ks) for group, members in by_group.items()}


def _group_metrics(counts: _Counts, ks: Sequence[int]) -> dict[str, Any]:
    evaluated = len(counts.samples)
    head = {"skipped": float(counts.skipped), "evaluated_problem_count": evaluated}
    return {**head, **(counts.pass_at_k(ks) if evaluated else {})}


def _performance(rows: Sequence[SummaryRow]) -> dict[str, dict[str, float | int]]:
    analysis: dict[str, float | int] = {
        "invalid_skipped": sum(1 for row in rows if not row.passed or row.solution_time_ms is None),
        "avg_solution_time_ms": _mean(_valid(rows, lambda row: row.solution_time_ms)),
        "avg_sm_throughput_pct": _mean(_valid(rows, lambda row: row.sm_throughput_pct)),
        "avg_dram_throughput_pct": _mean(_valid(rows, lambda row: row.dram_throughput_pct)),
    }
    speedups = _valid(rows, lambda row: row.speedup)
    if not speedups:
        return {"performance_analysis": analysis}
    return {"performance_analysis": analysis, "baseline_comparison": _comparison(speedups, len(rows))}


def _comparison(speedups: Sequence[float], sample_count: int) -> dict[str, float | int]:
    return {
        "baseline_available_count": len(speedups),
        "baseline_coverage_pct": len(speedups) / sample_count * 100,
        "avg_speedup": math.exp(sum(math.log(speedup) for speedup in speedups if speedup > 0) / len(speedups)),
        "median_speedup": float(np.median(speedups)),
        "min_speedup": min(speedups),
        "max_speedup": max(speedups),
        "regressions_count": sum(1 for speedup in speedups if speedup < 1.0),
        "improvements_count": sum(1 for speedup in speedups if speedup > 1.0),
        "speedup_p25": float(np.percentile(speedups, 25)),
        "speedup_p75": float(np.percentile(speedups, 75)),
    }


def _valid(rows: Sequence[SummaryRow], value_of: Callable[[SummaryRow], float | None]) -> list[float]:
    values = [value_of(row) for row in rows if row.passed]
    return [value for value in values if value is not None and math.isfinite(value)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
