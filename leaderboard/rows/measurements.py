"""The rows of a result's measurements, of baselines that results share, and the rule which times may rank."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

from django.utils import timezone

from leaderboard.models import Evaluation, Measurement, ProblemTrack, Result
from leaderboard.models.submissions.evaluation import SHARED_KEY_CHARACTERS
from leaderboard.results.rates import public_mean_ms
from leaderboard.rows.origin import Origin
from runners.wire.protocol import Clock, MeasurementReport, Purpose, Report, Role, Verdict, Witness

RANKING_CLOCKS = frozenset({Clock.OUTSIDE, Clock.IN_PROCESS})


def store_measurements(result: Result, report: Report, verdict: Verdict, origin: Origin) -> None:
    """Store the report's measurements, and note the primary baseline of a live evaluation on its track."""
    baselines: dict[str, Measurement] = {}
    for one in report.measurements:
        if one.role == Role.BASELINE:
            row = _baseline(result, one, report, ranks=origin.vouched and one.clock in RANKING_CLOCKS)
            baselines |= {one.case: row} if one.is_primary else {}
    candidates = [
        _row(
            result,
            one,
            report,
            baseline=baselines.get(one.case),
            ranks=origin.vouched and may_rank(one, report, verdict),
        )
        for one in report.measurements
        if one.role == Role.CANDIDATE
    ]
    Measurement.objects.bulk_create(candidates)
    if result.evaluation.purpose == Purpose.LIVE:
        note_baseline(result.evaluation.problem_id, result.evaluation.track_id, list(baselines.values()))


def may_rank(one: MeasurementReport, report: Report, verdict: Verdict) -> bool:
    """Whether a time ranks: its clock may rank, and the harness was seen to end in the test and in the timed runs."""
    witnessed = one.witness == Witness.SEEN and report.witness == Witness.SEEN
    return verdict == Verdict.PASSED and one.clock in RANKING_CLOCKS and witnessed


def _baseline(result: Result, one: MeasurementReport, report: Report, *, ranks: bool) -> Measurement:
    """The baseline's row: the result's own, or the shared row of its key, which is created once."""
    if not one.shared:
        row = _row(result, one, report, ranks=ranks)
        row.save()
        return row
    fresh = _row(None, one, report, ranks=ranks, evaluation=result.evaluation)
    values = {field: getattr(fresh, field) for field in _SHARED_FIELDS}
    row, _ = Measurement.objects.get_or_create(
        problem_id=fresh.problem_id,
        track_id=fresh.track_id,
        shared_key=_shared_key(one, result.evaluation),
        defaults=values,
    )
    return row


def _shared_key(one: MeasurementReport, evaluation: Evaluation) -> str:
    """A name of at most SHARED_KEY_CHARACTERS, which differs where the key or the case differs.

    Shadow evaluations have rows of their own, so that no live result is compared with their baselines.
    """
    name = f"{one.key}:{one.case}"
    if evaluation.purpose == Purpose.SHADOW:
        name = f"shadow:{name}"
    if len(name) <= SHARED_KEY_CHARACTERS:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()
    return f"{name[: SHARED_KEY_CHARACTERS - len(digest) - 1]}~{digest}"


_SHARED_FIELDS = (
    "role", "case", "median_ms", "ci_low_ms", "ci_high_ms", "runs_ms", "clock", "work_checked", "witness", "ranks",
    "device", "provenance", "measured_at", "baseline_name", "is_primary", "calls_ms", "calls",
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
        baseline_name=one.baseline if one.role == Role.BASELINE else "",
        is_primary=one.is_primary,
        baseline=baseline,
        median_ms=one.median_ms,
        ci_low_ms=one.ci_low_ms,
        ci_high_ms=one.ci_high_ms,
        runs_ms=one.runs_ms,
        calls_ms=one.calls_ms,
        calls=one.calls.model_dump(mode="json") if one.calls else None,
        clock=one.clock,
        work_checked=one.work_checked,
        witness=one.witness,
        ranks=ranks,
        device=one.device or None,
        provenance=report.provenance.model_dump(mode="json"),
        measured_at=_when(one.measured_at),
    )


def _when(text: str) -> datetime:
    """The moment in UTC, which every database can store; now if the text names none."""
    try:
        moment = datetime.fromisoformat(text)
        return (moment if timezone.is_aware(moment) else timezone.make_aware(moment)).astimezone(UTC)
    except (ValueError, OverflowError):
        return timezone.now()


def note_baseline(problem_id: int, track_id: int, baselines: Sequence[Measurement]) -> None:
    """Note the primary baseline's times on the problem's track, until one that ranks is noted."""
    if not baselines:
        return
    rankable, cases_ms = all(one.ranks for one in baselines), {one.case: one.median_ms for one in baselines}
    known = ProblemTrack.objects.filter(problem_id=problem_id, track_id=track_id)
    known.exclude(has_rankable_baseline=True).update(
        has_rankable_baseline=rankable,
        baseline_median_ms=public_mean_ms(cases_ms),
        baseline_cases_ms=cases_ms,
    )


def note_baselines_of(result_id: int, problem_id: int, track_id: int) -> None:
    """Note the primary baselines with which a stored result was compared."""
    rows = Measurement.objects.filter(candidates__result=result_id, role=Role.BASELINE).distinct()
    note_baseline(problem_id, track_id, list(rows))


def renew_baseline(problem_id: int, track_id: int) -> None:
    """Forget the noted baseline, and note that of a current live result, if there is one."""
    ProblemTrack.objects.filter(problem_id=problem_id, track_id=track_id).update(
        has_rankable_baseline=False, baseline_median_ms=None, baseline_cases_ms={}
    )
    compared = Measurement.objects.filter(problem=problem_id, track=track_id, baseline__isnull=False)
    compared = compared.filter(result__current_of__purpose=Purpose.LIVE).order_by("-baseline__ranks", "pk")
    if (found := compared.values_list("result_id", flat=True).first()) is not None:
        note_baselines_of(found, problem_id, track_id)
