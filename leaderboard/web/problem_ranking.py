"""A problem's ranking on a track: each entrant's best time in the problem's own units, and their roofline."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import F
from django.urls import reverse

from leaderboard import visibility
from leaderboard.charts import roofline as charts
from leaderboard.charts import sizes
from leaderboard.charts.chart import MAX_ENTRANTS
from leaderboard.charts.sizes import CaseTime, SizeLine
from leaderboard.models import Measurement, ProblemTrack, Track
from leaderboard.rates import Ceilings, Rates, cases_with_time, rates_of
from leaderboard.web.figures import ChartFigure, with_track
from problems.models import Problem
from problems.spec.case import Case
from runners.wire.protocol import Role

RANKING_ROWS = 100


def ranking_of(user: Any, found: Problem, track: Track | None) -> list[dict[str, Any]]:
    """Each entrant's fastest passing submission on the track; passes without a ranking time come last."""
    scores = visibility.visible_scores(user, found.release).filter(problem=found, track=track, n_passed__gt=0)
    rows = scores.order_by(F("best_ms").asc(nulls_last=True), "submission_id").values(
        "submission_id", "submission__entrant_id", "submission__entrant__slug", "submission__entrant__name",
        "submission__entrant__kind", "n_passed", "n_samples", "best_ms", "best_speedup", "best_evaluation_id",
    )[: RANKING_ROWS * 5]  # fmt: skip
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(row["submission__entrant__slug"], dict(row))
    ranked = list(first.values())[:RANKING_ROWS]
    on_track = ProblemTrack.objects.filter(problem=found, track=track).values_list("baseline_cases_ms", flat=True)
    cases = cases_with_time(found.timed_cases, on_track.first() or {})
    return [one | {"rates": _rates(cases, track, one["best_ms"])} for one in ranked]


def ranked_by_case(track: Track | None, ranking: Sequence[Mapping[str, Any]], case: Case) -> list[dict[str, Any]]:
    """The same rows with time, speedup and rates of one case, the fastest first. Makes one query."""
    measured = Measurement.objects.filter(
        result__current_of__in=[row["best_evaluation_id"] for row in ranking if row["best_evaluation_id"]],
        role=Role.CANDIDATE,
        case=case.name,
    )
    times = {pk: times for pk, *times in measured.values_list("result__current_of", "median_ms", "baseline__median_ms")}
    rows = [dict(row) | _on_case(track, case, *times.get(row["best_evaluation_id"], (None, None))) for row in ranking]
    return sorted(rows, key=lambda row: (row["best_ms"] is None, row["best_ms"] or 0.0))


def _on_case(track: Track | None, case: Case, own_ms: float | None, baseline_ms: float | None) -> dict[str, Any]:
    rates = Rates() if own_ms is None else rates_of([case], _peaks(track), own_ms)
    return {"best_ms": own_ms, "best_speedup": baseline_ms / own_ms if own_ms and baseline_ms else None, "rates": rates}


def _rates(cases: Sequence[Case], track: Track | None, best_ms: float | None) -> Rates:
    return Rates() if best_ms is None else rates_of(cases, _peaks(track), best_ms)


def _peaks(track: Track | None) -> Mapping[str, Any]:
    return track.peaks if track else {}


def roofs_of(found: Problem, track: Track | None) -> list[charts.Roof]:
    """One for each data type of the cases that declare both kinds of work; without measured peaks there is none."""
    dtypes = dict.fromkeys(case.dtype for case in _full_cases(found).values())
    ceilings = [Ceilings.of(_peaks(track), dtype) for dtype in dtypes]
    return [charts.Roof(one.gflops, one.gbps, one.dtype) for one in ceilings if one.gflops and one.gbps]


def _full_cases(found: Problem) -> dict[str, Case]:
    """The cases that have a place on the roofline, by name."""
    return {case.name: case for case in found.timed_cases if case.flops and case.bytes}


def points_of(found: Problem, track: Track | None, ranking: Sequence[Mapping[str, Any]]) -> list[charts.Point]:
    """For each case the time of each entrant's best sample, and the reference's; one query."""
    cases = _full_cases(found)
    ranked = {row["best_evaluation_id"]: row for row in ranking[:MAX_ENTRANTS] if row["best_evaluation_id"]}
    place = {evaluation_id: n for n, evaluation_id in enumerate(ranked)}
    measured = Measurement.objects.filter(
        result__current_of__in=ranked, role=Role.CANDIDATE, case__in=cases
    ).values_list("result__current_of", "case", "median_ms", "baseline__median_ms")
    rows = sorted(measured, key=lambda row: (place[row[0]], row[1]))
    references = {case: baseline_ms for _, case, _, baseline_ms in rows if baseline_ms}
    own = [
        _point(ranked[pk]["submission__entrant_id"], ranked[pk]["submission__entrant__name"], cases[case], ms, track)
        for pk, case, ms, _ in rows
    ]
    reference = [_point(None, "Reference solution", cases[name], ms, track) for name, ms in references.items()]
    return [*own, *reference]


def _point(entrant_id: int | None, name: str, case: Case, time_ms: float, track: Track | None) -> charts.Point:
    rates = rates_of([case], _peaks(track), time_ms)
    assert case.flops and case.bytes
    label = f"{name}, {case.name}" if case.name else name
    intensity = case.flops / case.bytes
    return charts.Point(
        entrant_id, label, time_ms, rates.gflops or 0.0, rates.gbps or 0.0, rates.roofline or 0.0, intensity
    )


def lines_of(found: Problem, ranking: Sequence[Mapping[str, Any]]) -> list[SizeLine]:
    """The times of each entrant's best sample by size, and the reference's; one query. Empty below two sizes."""
    size_of = {case.name: float(case.size) for case in found.timed_cases if case.size}
    if len(set(size_of.values())) < 2:
        return []
    ranked = {row["best_evaluation_id"]: row for row in ranking[:MAX_ENTRANTS] if row["best_evaluation_id"]}
    measured = Measurement.objects.filter(
        result__current_of__in=ranked, role=Role.CANDIDATE, case__in=size_of
    ).values_list("result__current_of", "case", "median_ms", "ci_low_ms", "ci_high_ms", "baseline__median_ms")
    own: dict[int, list[CaseTime]] = {pk: [] for pk in ranked}
    references: dict[str, CaseTime] = {}
    for pk, case, median_ms, low_ms, high_ms, baseline_ms in measured:
        own[pk].append(CaseTime(case, size_of[case], median_ms, low_ms, high_ms))
        if baseline_ms:
            references.setdefault(case, CaseTime(case, size_of[case], baseline_ms))
    lines = [
        SizeLine(row["submission__entrant_id"], row["submission__entrant__name"], _by_size(own[pk]))
        for pk, row in ranked.items()
        if own[pk]
    ]
    return [*lines, SizeLine(None, "Reference solution", _by_size(references.values()))] if lines else []


def _by_size(times: Iterable[CaseTime]) -> tuple[CaseTime, ...]:
    return tuple(sorted(times, key=lambda time: (time.size, time.case)))


def sizes_figure_of(found: Problem, track: Track | None, ranking: Sequence[Mapping[str, Any]]) -> ChartFigure | None:
    lines = lines_of(found, ranking)
    if not lines:
        return None
    address = with_track(reverse("sizes", args=[found.release.slug, found.slug]), track)
    return ChartFigure(
        sizes.TITLE, sizes.CAPTION, f"{found.release.slug}-{found.slug}-sizes", address, sizes.table(lines)
    )


def figure_of(found: Problem, track: Track | None, ranking: Sequence[Mapping[str, Any]]) -> ChartFigure | None:
    if not roofs_of(found, track) or not (points := points_of(found, track, ranking)):
        return None
    address = with_track(reverse("roofline", args=[found.release.slug, found.slug]), track)
    name = f"{found.release.slug}-{found.slug}-roofline"
    return ChartFigure("Roofline", charts.CAPTION, name, address, charts.table(points))
