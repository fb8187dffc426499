"""A result's measurements as charts and tables show them, and its provenance in words."""

from collections.abc import Iterable, Mapping
from typing import Any

from leaderboard.charts import runs
from leaderboard.models import Measurement, Result
from runners.wire.protocol import Role
from scoring.throughput import geometric_mean

PROVENANCE_LABELS = {
    "node": "Node", "cpu_model": "CPU", "cpu_cores": "Cores", "gpu": "GPU", "gpu_uuid": "GPU id", "driver": "Driver",
    "toolkit": "Toolkit", "arch": "Built for", "profiler": "Profiler", "image": "Image",
    "sandbox": "Sandbox", "memory_limit_by": "Memory limited by",
    "kernel": "Linux kernel", "agent_version": "Agent", "judge_version": "Judge version",
    "timing_policy": "Timing policy",
    "artefact_key": "Build artefact", "build_cached": "Build from cache", "started_at": "Started",
    "finished_at": "Finished",
}  # fmt: skip


def measurements_of(result: Result) -> list[Measurement]:
    """The candidate's, each followed by the baseline it was held against."""
    candidates = result.measurements.filter(role="candidate").select_related("baseline")
    return [row for one in candidates for row in (one, one.baseline) if row is not None]


def ranked_time_ms(rows: Iterable[Measurement]) -> float | None:
    """The candidate's time as rankings have it: the geometric mean over its cases; None if a case's may not rank."""
    return geometric_mean(one.median_ms if one.ranks else None for one in rows if one.role == Role.CANDIDATE)


def runs_of(one: Measurement) -> runs.Runs:
    calls_ms = _calls_ms(one)
    processes_ms = tuple(one.runs_ms) if calls_ms and len(one.runs_ms) > 1 else ()
    return runs.Runs(
        one.role, one.case, calls_ms or one.runs_ms, one.median_ms, one.ci_low_ms, one.ci_high_ms, processes_ms
    )


def _calls_ms(one: Measurement) -> list[float]:
    """The calls of all processes, where they are kept with the measurement."""
    return [time_ms for calls in one.calls_ms for time_ms in calls]


def provenance_rows(facts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    rows = [(label, facts.get(name)) for name, label in PROVENANCE_LABELS.items()]
    return [(label, "yes" if value is True else value) for label, value in rows if value not in (None, "", 0, False)]
