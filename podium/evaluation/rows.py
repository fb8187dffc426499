"""Makes ComputeEval's graded rows from results, and holds rows back until their task is complete."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from statistics import geometric_mean
from typing import Any

from podium.evaluation.inputs import SampleToGrade
from problems.formats.compute_eval.graded import GradedSolution
from problems.formats.compute_eval.summary_row import SummaryRow
from problems.formats.compute_eval.timing import PerformanceMetrics
from problems.spec.digests import grading_digest, record_md5
from problems.spec.kinds import Kind
from runners.agent.judges.judgement import Texts
from runners.agent.judges.report import Finished
from runners.wire.protocol import Clock, MeasurementReport, Role, Verdict, Witness


@dataclass(frozen=True)
class Graded:
    """A sample and its row."""

    sample: SampleToGrade
    row: GradedSolution
    baseline_error: str | None = None
    profile: bytes | None = None
    """The profiler's own report, if there is one."""


def graded(sample: SampleToGrade, finished: Finished) -> Graded:
    """The row of one sample. Podium's own fields are under `podium`."""
    report, texts = finished.report, _with_times(sample, finished)
    left_early = any(flag.code == "left_early" for flag in report.flags)
    row = GradedSolution.of(
        sample.problem,
        sample.solution,
        sample.pack,
        passed=report.verdict is Verdict.PASSED,
        skipped=report.verdict is Verdict.SKIPPED,
        build_output=texts.build,
        test_output=texts.test,
        benchmark_output=texts.benchmark_error,
        solution_metrics=texts.solution_metrics,
        solution_time=None if left_early else texts.solution_ms,
        baseline_metrics=texts.baseline_metrics,
        baseline_time=texts.baseline_ms,
        speedup=report.speedup,
        podium=_podium(sample, finished),
    )
    profile = finished.blobs[report.profile.sha256] if report.profile else None
    return Graded(sample, row, texts.baseline_error, profile)


def _with_times(sample: SampleToGrade, finished: Finished) -> Texts:
    """The row's texts. ComputeEval has one time a sample: of several cases it is the geometric mean.

    Both means are over the cases that the candidate was timed on, so that their ratio is the speedup.
    """
    if sample.problem.kind is Kind.COMMAND:
        return finished.texts
    own_ms, baseline_ms = (_medians_ms(finished.report.measurements, role) for role in (Role.CANDIDATE, Role.BASELINE))
    compared_ms = [baseline_ms[case] for case in own_ms if case in baseline_ms]
    return replace(
        finished.texts,
        solution_ms=geometric_mean(own_ms.values()) if own_ms else None,
        baseline_ms=geometric_mean(compared_ms) if own_ms and len(compared_ms) == len(own_ms) else None,
    )


def _medians_ms(measurements: Sequence[MeasurementReport], role: Role) -> dict[str, float]:
    return {one.case: one.median_ms for one in measurements if one.role is role and one.is_primary}


def _podium(sample: SampleToGrade, finished: Finished) -> dict[str, Any]:
    report, problem = finished.report, sample.problem
    cases = [case.model_dump(mode="json") for case in report.cases]
    return {
        "verdict": report.verdict.value,
        "reason": report.reason,
        "flags": [flag.model_dump(mode="json") for flag in report.flags],
        "measurements": [one.model_dump(mode="json") for one in report.measurements],
        **({"cases": cases} if cases else {}),
        "self_reported": any(one.clock is Clock.SELF for one in report.measurements),
        "witness": report.witness.value if report.verdict is Verdict.PASSED else Witness.UNAVAILABLE.value,
        "provenance": report.provenance.model_dump(mode="json"),
        "steps": [step.model_dump(mode="json", exclude={"log": {"text", "blob"}}) for step in report.steps],
        "withheld": report.withheld or [],
        "sample": sample.incoming.index,
        "inputs": sample.inputs_digest,
        "record_md5": record_md5(sample.record.line),
        "grading_digest": grading_digest(problem, problem.withheld),
    }


def _comparable(one: Graded) -> Graded:
    """The row, without times if its own baseline failed."""
    return one if one.baseline_error is None else without_times(one, one.baseline_error)


def without_times(one: Graded, error: str) -> Graded:
    """The row without times and with the baseline's error, if the baseline's benchmark failed."""
    gone = {"solution_metrics": None, "solution_time": None, "speedup": None, "benchmark_output": error}
    gone |= {"baseline_metrics": None, "baseline_time": None}
    return Graded(one.sample, one.row.model_copy(update=gone), error, one.profile)


@dataclass
class TaskRows:
    """The rows of one task, released in the order of its samples in each pack.

    If they share a baseline, all rows are held until the last one, because its failure changes every row.
    """

    samples: Sequence[SampleToGrade]
    held: bool
    _done: dict[int, Graded | None] = field(default_factory=dict)
    _released: set[int] = field(default_factory=set)

    def add(self, sample: SampleToGrade, row: Graded | None) -> list[Graded]:
        """Add a sample's row (None after a fault of this machine). Returns the rows that may now be written."""
        self._done[self.samples.index(sample)] = row
        if self.held:
            return self._all() if len(self._done) == len(self.samples) else []
        of_pack = [place for place, one in enumerate(self.samples) if one.pack == sample.pack]
        ready = list(takewhile(self._done.__contains__, of_pack))
        fresh = [self._done[place] for place in ready if place not in self._released]
        self._released.update(ready)
        return [_comparable(one) for one in fresh if one is not None]

    def _all(self) -> list[Graded]:
        rows = [row for index in range(len(self.samples)) if (row := self._done[index]) is not None]
        error = next((row.baseline_error for row in rows if row.baseline_error is not None), None)
        return rows if error is None else [without_times(row, error) for row in rows]


def summary_row(data: Mapping[str, Any]) -> SummaryRow:
    """The summary's part of a row that an earlier run has written."""
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
