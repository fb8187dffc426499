"""The fields of a graded sample that ComputeEval's summary uses."""

from dataclasses import dataclass

from problems.formats.compute_eval.graded import GradedSolution


@dataclass(frozen=True)
class SummaryRow:
    """One sample of the summary; times in milliseconds, throughputs in percent of peak."""

    task_id: str
    group: str
    passed: bool
    skipped: bool
    solution_time_ms: float | None = None
    speedup: float | None = None
    sm_throughput_pct: float | None = None
    dram_throughput_pct: float | None = None

    @classmethod
    def of(cls, graded: GradedSolution) -> "SummaryRow":
        """Take the row out of a graded sample."""
        metrics = graded.solution_metrics
        return cls(
            task_id=graded.task_id,
            group=graded.problem.group,
            passed=graded.passed,
            skipped=graded.skipped,
            solution_time_ms=graded.solution_time,
            speedup=graded.speedup,
            sm_throughput_pct=metrics.sm_throughput_pct if metrics else None,
            dram_throughput_pct=metrics.dram_throughput_pct if metrics else None,
        )
