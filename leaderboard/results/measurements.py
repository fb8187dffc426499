"""A result's measurements as charts and tables show them, and its provenance in words."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from leaderboard.charts.results import runs
from leaderboard.models import Measurement, Result
from problems.spec.case import is_held_out
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
_TIMES = ("started_at", "finished_at")


def measurements_of(result: Result) -> list[Measurement]:
    """The candidate's, each followed by the baseline it was held against."""
    candidates = result.measurements.filter(role="candidate").select_related("baseline")
    return [row for one in candidates for row in (one, one.baseline) if row is not None]


def ranked_time_ms(rows: Iterable[Measurement]) -> float | None:
    """The candidate's time as rankings have it: the geometric mean over its public cases; None if one may not rank."""
    own = (one for one in rows if one.role == Role.CANDIDATE and not is_held_out(one.case))
    return geometric_mean(one.median_ms if one.ranks else None for one in own)


@dataclass(frozen=True)
class HeldOut:
    """How a result's speedup on held-out cases compares with that on the others."""

    n_cases: int
    speedup: float
    public_speedup: float

    @property
    def gap(self) -> float:
        """The one by the other: below 1 where it is slower on sizes that it was not written for."""
        return self.speedup / self.public_speedup


def held_out_of(own: Iterable[Measurement]) -> HeldOut | None:
    """From the candidate's measurements with their baselines; None without times of cases of both kinds."""
    ratios: dict[bool, list[float]] = {True: [], False: []}
    for one in own:
        if one.ranks and one.baseline:
            ratios[is_held_out(one.case)].append(one.baseline.median_ms / one.median_ms)
    held_out, public = geometric_mean(ratios[True]), geometric_mean(ratios[False])
    return HeldOut(len(ratios[True]), held_out, public) if held_out and public else None


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
    rows = [(label, _written(name, facts.get(name))) for name, label in PROVENANCE_LABELS.items()]
    return [(label, value) for label, value in rows if value not in (None, "", 0, False)]


def _written(name: str, value: Any) -> Any:
    """A fact as people read it: `yes`, or a time to the second in UTC. Imported facts may hold any text."""
    if value is True:
        return "yes"
    if name not in _TIMES:
        return value
    try:
        return f"{datetime.fromisoformat(str(value)).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError):
        return value
