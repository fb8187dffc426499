"""Turns what came of samples into ComputeEval's graded rows, and holds rows back until their task is understood."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from podium.evaluation.inputs import Sample
from problems.formats.compute_eval.graded import GradedSolution
from problems.formats.compute_eval.summary_row import SummaryRow
from problems.formats.compute_eval.timing import PerformanceMetrics
from problems.spec.digests import grading_digest, record_md5
from runners.agent.task import Finished
from runners.protocol import Verdict, Witness


@dataclass(frozen=True)
class Graded:
    """A sample and its row."""

    sample: Sample
    row: GradedSolution
    baseline_error: str | None = None
    profile: bytes | None = None
    """The profiler's own report, where it makes one."""


def graded(sample: Sample, finished: Finished) -> Graded:
    """The row of one sample; what is ours stands under `podium`."""
    report, outputs = finished.report, finished.outputs
    left_early = any(flag.code == "left_early" for flag in report.flags)
    row = GradedSolution.of(
        sample.record.problem,
        sample.solution,
        sample.pack,
        passed=report.verdict is Verdict.PASSED,
        skipped=report.verdict is Verdict.SKIPPED,
        build_output=outputs.build,
        test_output=outputs.test,
        benchmark_output=outputs.benchmark_error,
        solution_metrics=outputs.solution_metrics,
        solution_time=None if left_early else outputs.solution_ms,
        baseline_metrics=outputs.baseline_metrics,
        baseline_time=outputs.baseline_ms,
        speedup=report.speedup,
        podium=_podium(sample, finished),
    )
    profile = finished.blobs[report.profile.sha256] if report.profile else None
    return Graded(sample, row, outputs.baseline_error, profile)


def _podium(sample: Sample, finished: Finished) -> dict[str, Any]:
    report, problem = finished.report, sample.record.problem
    return {
        "verdict": report.verdict.value,
        "reason": report.reason,
        "flags": [flag.model_dump(mode="json") for flag in report.flags],
        "measurements": [one.model_dump(mode="json") for one in report.measurements],
        "witness": report.witness.value if report.verdict is Verdict.PASSED else Witness.UNAVAILABLE.value,
        "provenance": report.provenance.model_dump(mode="json"),
        "steps": [step.model_dump(mode="json", exclude={"log": {"text", "blob"}}) for step in report.steps],
        "sample": sample.draft.index,
        "inputs": sample.inputs_digest,
        "record_md5": record_md5(sample.record.line),
        "grading_digest": grading_digest(problem, problem.podium.build_only),
    }


def without_times(one: Graded, error: str) -> Graded:
    """The same where the baseline's benchmark failed: no sample of the task has a time, and each shows why."""
    gone = {"solution_metrics": None, "solution_time": None, "speedup": None, "benchmark_output": error}
    gone |= {"baseline_metrics": None, "baseline_time": None}
    return Graded(one.sample, one.row.model_copy(update=gone), error, one.profile)


@dataclass
class TaskRows:
    """The rows of one task, let go in the order of its samples.

    Where the baseline is measured too they are held until all are there: its failure changes every row.
    """

    samples: Sequence[Sample]
    held: bool
    _done: dict[int, Graded | None] = field(default_factory=dict)
    _next: int = 0

    def add(self, sample: Sample, row: Graded | None) -> list[Graded]:
        """Note a sample's row (None where it failed for reasons of ours); returns the rows that may now be written."""
        self._done[self.samples.index(sample)] = row
        if self.held:
            return self._all() if len(self._done) == len(self.samples) else []
        ready = []
        while self._next in self._done:
            ready.append(self._done[self._next])
            self._next += 1
        return [one for one in ready if one is not None]

    def _all(self) -> list[Graded]:
        rows = [row for index in range(len(self.samples)) if (row := self._done[index]) is not None]
        error = next((row.baseline_error for row in rows if row.baseline_error is not None), None)
        return rows if error is None else [without_times(row, error) for row in rows]


def summary_row(data: Mapping[str, Any]) -> SummaryRow:
    """What the summary needs of a row that was written by an earlier run."""
    metrics = data.get("solution_metrics")
    known = PerformanceMetrics.model_validate(metrics) if metrics else None
    return SummaryRow(
        task_id=data["task_id"],
        group=data["problem"]["group"],
        passed=data["passed"],
        skipped=data["skipped"],
        solution_time_ms=data["solution_time"],
        speedup=data["speedup"],
        sm_throughput_pct=known.sm_throughput_pct if known else None,
        dram_throughput_pct=known.dram_throughput_pct if known else None,
    )
