"""Record a result: append it with its measurements and flags, make it current, and update the aggregates."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from leaderboard.actions import scores
from leaderboard.actions.errors import Conflict
from leaderboard.models import Evaluation, EvaluationState, Flag, Measurement, ProblemTrack, Result
from leaderboard.models.evaluation import SHARED_KEY_CHARACTERS, ResultOrigin
from runners.protocol import Clock, MeasurementReport, Report, Role, Verdict, Witness

RANKING_CLOCKS = frozenset({Clock.OUTSIDE, Clock.IN_PROCESS})


@dataclass(frozen=True)
class Origin:
    """Where a report comes from: an attempt of the fleet, or an organiser's import."""

    kind: ResultOrigin
    vouched: bool = True
    """False where nothing is known of how its times came about: none of them ranks, nor is a baseline for others."""
    attempt: UUID | None = None
    report_digest: str = ""
    reused_from: Result | None = None


@transaction.atomic
def record_result(evaluation: Evaluation, report: Report, origin: Origin) -> Result:
    """Append the result, make it current and rescore. Raises Conflict when the evaluation was cancelled."""
    result = append_result(evaluation, report, origin)
    scores.rescore(evaluation.submission, evaluation.track, [evaluation.problem_id])
    scores.finish_if_done(evaluation.submission)
    return result


def append_result(evaluation: Evaluation, report: Report, origin: Origin) -> Result:
    """Append the result and make it current; the caller rescores. Raises Conflict when it was cancelled."""
    verdict, reason = judged(report)
    result = Result.objects.create(
        evaluation=evaluation,
        origin=origin.kind,
        attempt=origin.attempt,
        report_digest=origin.report_digest,
        reused_from=origin.reused_from,
        verdict=verdict,
        reason=reason,
        witness=report.witness,
        speedup=_speedup(report.measurements) if verdict == Verdict.PASSED else None,
        steps=[step.model_dump(mode="json") for step in report.steps],
        provenance=report.provenance.model_dump(mode="json"),
        profile=report.profile.model_dump(mode="json") if report.profile else None,
    )
    _store_measurements(result, report, verdict, origin)
    Flag.objects.bulk_create(
        Flag(result=result, code=flag.code, scope=flag.scope, detail=flag.detail) for flag in report.flags
    )
    moved = Evaluation.objects.filter(pk=evaluation.pk).exclude(state=EvaluationState.CANCELLED)
    if not moved.update(state=EvaluationState.DONE, current_result=result, done_at=timezone.now()):
        raise Conflict("cancelled", f"Evaluation {evaluation.pk} was cancelled; its result is not wanted any more.")
    return result


NEVER_ENDED = "The program ended with status 0, but the test harness was never seen to reach its end."


def judged(report: Report) -> tuple[Verdict, str]:
    """The site's own word on a report: a contradicted witness is a failed test, whatever the node made of it."""
    if report.verdict == Verdict.PASSED and report.witness == Witness.CONTRADICTED:
        return Verdict.TEST_FAILED, NEVER_ENDED
    return report.verdict, report.reason


def _speedup(measurements: Sequence[MeasurementReport]) -> float | None:
    """Geometric mean over cases of baseline median by candidate median; None where a case lacks either."""
    medians = {role: {m.case: m.median_ms for m in measurements if m.role == role} for role in Role}
    candidate, baseline = medians[Role.CANDIDATE], medians[Role.BASELINE]
    if not candidate or candidate.keys() - baseline.keys():
        return None
    return math.exp(math.fsum(math.log(baseline[case] / candidate[case]) for case in candidate) / len(candidate))


def _store_measurements(result: Result, report: Report, verdict: Verdict, origin: Origin) -> None:
    baselines: dict[str, Measurement] = {}
    for one in report.measurements:
        if one.role == Role.BASELINE:
            baselines[one.case] = _baseline(result, one, report, ranks=origin.vouched and one.clock in RANKING_CLOCKS)
    candidates = [
        _row(
            result,
            one,
            report,
            baseline=baselines.get(one.case),
            ranks=origin.vouched and _ranks(one, report, verdict),
        )
        for one in report.measurements
        if one.role == Role.CANDIDATE
    ]
    Measurement.objects.bulk_create(candidates)
    if baselines:
        _note_baseline(result.evaluation, list(baselines.values()))


def _ranks(one: MeasurementReport, report: Report, verdict: Verdict) -> bool:
    """A time ranks when its clock may, and the harness was seen to end in the test and in the timed runs."""
    witnessed = one.witness == Witness.SEEN and report.witness == Witness.SEEN
    return verdict == Verdict.PASSED and one.clock in RANKING_CLOCKS and witnessed


def _baseline(result: Result, one: MeasurementReport, report: Report, *, ranks: bool) -> Measurement:
    """A baseline's row: the result's own, or the shared one of that key, made once."""
    if not one.shared:
        row = _row(result, one, report, ranks=ranks)
        row.save()
        return row
    fresh = _row(None, one, report, ranks=ranks, evaluation=result.evaluation)
    values = {field: getattr(fresh, field) for field in _SHARED_FIELDS}
    row, _ = Measurement.objects.get_or_create(
        problem_id=fresh.problem_id, track_id=fresh.track_id, shared_key=_shared_key(one), defaults=values
    )
    return row


def _shared_key(one: MeasurementReport) -> str:
    """The same for the same key and case alone, however long they are."""
    name = f"{one.key}:{one.case}"
    if len(name) <= SHARED_KEY_CHARACTERS:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()
    return f"{name[: SHARED_KEY_CHARACTERS - len(digest) - 1]}~{digest}"


_SHARED_FIELDS = (
    "role", "case", "median_ms", "ci_low_ms", "ci_high_ms", "runs_ms", "clock", "work_checked", "witness", "ranks",
    "device", "provenance", "measured_at",
)  # fmt: skip


def _row(
    result: Result | None,
    one: MeasurementReport,
    report: Report,
    *,
    ranks: bool,
    baseline: Measurement | None = None,
    evaluation: Evaluation | None = None,
) -> Measurement:
    place = evaluation if result is None else result.evaluation
    if place is None:
        raise ValueError("a measurement belongs to a result or names its evaluation")
    return Measurement(
        result=result,
        problem_id=place.problem_id,
        track_id=place.track_id,
        role=one.role,
        case=one.case,
        baseline=baseline,
        median_ms=one.median_ms,
        ci_low_ms=one.ci_low_ms,
        ci_high_ms=one.ci_high_ms,
        runs_ms=one.runs_ms,
        clock=one.clock,
        work_checked=one.work_checked,
        witness=one.witness,
        ranks=ranks,
        device=one.device or None,
        provenance=report.provenance.model_dump(mode="json"),
        measured_at=_when(one.measured_at),
    )


def _when(text: str) -> Any:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return timezone.now()
    return moment if timezone.is_aware(moment) else timezone.make_aware(moment)


def _note_baseline(evaluation: Evaluation, baselines: Sequence[Measurement]) -> None:
    rankable = all(one.ranks for one in baselines)
    known = ProblemTrack.objects.filter(problem_id=evaluation.problem_id, track_id=evaluation.track_id)
    known.exclude(has_rankable_baseline=True).update(
        has_rankable_baseline=rankable, baseline_median_ms=baselines[0].median_ms
    )
