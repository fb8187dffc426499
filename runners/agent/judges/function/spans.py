"""The time that SOL-ExecBench would tell of a case, so that its users can compare. Shown, never ranked.

One more process of a solution on a GPU tells the kernel span of each call: from the start of its first kernel, copy or
memset to the end of its last, by CUPTI, gaps included. Caches are cleared before a call, as in both.
"""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from problems.spec.function.problem import FunctionProblem
from runners.agent.judges.function.contest import Contest
from runners.agent.judges.function.subject import Subject
from runners.agent.profilers import cupti_library
from runners.wire.protocol import MeasurementReport, Role

FACT = "kernel_span_ms"
PLAN = {
    "warm_ups": 10,
    "least_calls": 3,
    "most_calls": 50,
    "enough_seconds": 5.0,
    "longest_seconds": 60.0,
}
"""10 calls that are not timed and 50 that are, as they make them; fewer once those take 5 s together."""

Spans = Mapping[Role, Mapping[str, float]]
"""Milliseconds of one call by case."""


def library_for(subject: Subject) -> Path | None:
    """The library that records spans; None on a CPU, or where CUPTI or a compiler is missing."""
    if subject.device != "cuda" or cupti_library.why_unavailable():
        return None
    return cupti_library.find_or_build().path


def spans_ms(problem: FunctionProblem, seen: Contest) -> dict[str, float]:
    """The median by case, without cases in which it is not known of every call."""
    cases = problem.manifest.cases
    right = [one for one in seen.cases if one["verdict"] == "passed"]
    told = [(cases[one["case"]], one["span_ms"]) for one in right if "span_ms" in one]
    return {case.name: round(statistics.median(goes_ms) / case.input_sets, 6) for case, goes_ms in told}


def with_spans(measurements: Sequence[MeasurementReport], spans: Spans) -> list[MeasurementReport]:
    """The measurements with the spans of their cases among the facts."""
    return [_with(one, spans.get(one.role, {}).get(one.case)) for one in measurements]


def _with(one: MeasurementReport, span_ms: float | None) -> MeasurementReport:
    return one if span_ms is None else one.model_copy(update={"device": {**one.device, FACT: span_ms}})
