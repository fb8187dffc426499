"""Turns a graded row into the report that a node would have made of it."""

import hashlib
from typing import Any

from pydantic import ValidationError

from leaderboard.errors import Refused
from leaderboard.imports.graded_rows import Matched
from problems.spec.digests import canonical_json
from problems.spec.errors import explain
from runners.wire.protocol import (
    MAX_TIME_MS,
    MIN_TIME_MS,
    Clock,
    FlagReport,
    FlagScope,
    MeasurementReport,
    Provenance,
    Report,
    Role,
    Verdict,
)

NO_PROVENANCE = FlagReport(
    code="no_provenance",
    scope=FlagScope.TIME,
    detail="Imported from a file that does not say on which machine, when and under which bounds it was timed.",
)
_BLOBS = ("artefact", "profile", "withheld", "fault")
"""Blobs that a node sends besides a report; a file has none of them."""


def report_of(matched: Matched) -> Report:
    """Raises Refused, naming the line."""
    try:
        return _ours(matched) if matched.is_ours else _compute_evals(matched)
    except ValidationError as error:
        raise Refused("bad_row", f"Line {matched.number}: the row's {explain(error)}.", matched.number) from error


def _ours(matched: Matched) -> Report:
    podium = matched.row.podium or {}
    fields = {key: value for key, value in podium.items() if key not in _BLOBS}
    steps = [{key: value for key, value in step.items() if key != "log"} for step in podium.get("steps", ())]
    report = Report.model_validate(fields | {"steps": steps})
    return report.model_copy(update={"measurements": [_renamed(one) for one in report.measurements]})


def _renamed(one: MeasurementReport) -> MeasurementReport:
    """A shared baseline under a name that only the very same measurement has: no other may stand in for it."""
    if not one.shared:
        return one
    content = canonical_json(one.model_dump(mode="json"))
    return one.model_copy(update={"key": f"imported:{hashlib.sha256(content).hexdigest()}"})


def _compute_evals(matched: Matched) -> Report:
    """Verdict and times as stated; nothing vouches for them, so a pass is unwitnessed and its time flagged."""
    row = matched.row
    times: list[tuple[Role, float | None]] = [(Role.BASELINE, row.baseline_time), (Role.CANDIDATE, row.solution_time)]
    passed = row.verdict == Verdict.PASSED
    measurements = [_measurement(role, time) for role, time in times if passed and time and _is_a_time(time)]
    return Report(
        verdict=Verdict(row.verdict),
        reason="" if passed else "As ComputeEval's evaluator judged it.",
        measurements=measurements,
        flags=[NO_PROVENANCE] if measurements else [],
        provenance=Provenance(judge_version=matched.judge_version),
    )


def _is_a_time(time_ms: float) -> bool:
    return MIN_TIME_MS <= time_ms <= MAX_TIME_MS


def _measurement(role: Role, time_ms: float) -> MeasurementReport:
    fields: dict[str, Any] = {"role": role, "median_ms": time_ms, "runs_ms": [time_ms], "clock": Clock.IN_PROCESS}
    return MeasurementReport(**fields)
