"""The figures on a problem's page: times of all samples; of each entrant's best one processes, sizes and roofline."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.db.models import F
from django.urls import reverse

from leaderboard import visibility
from leaderboard.charts.chart import MAX_ENTRANTS
from leaderboard.charts.results import processes, runtimes, sizes
from leaderboard.charts.results import roofline as charts
from leaderboard.charts.results.processes import Spread
from leaderboard.charts.results.sizes import CaseTime, SizeLine
from leaderboard.models import Measurement, ProblemTrack, Track
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.results.rates import Ceilings, public_mean_ms, rates_of
from leaderboard.site.numerals import microseconds
from leaderboard.web.boards.figures import ChartFigure, facts_of
from leaderboard.web.problems.problem_ranking import peaks_of
from problems.models import Problem
from problems.spec.case import Case
from problems.spec.kinds import Kind
from problems.spec.shortest import LEAST_MS
from runners.wire.protocol import Role

REFERENCE = "Reference solution"
MAX_SCORES = 5000
"""Submissions whose samples the distribution of runtimes takes."""


def roofs_of(found: Problem, track: Track | None) -> list[charts.Roof]:
    """One for each data type of the cases that declare both kinds of work; without measured peaks there is none."""
    dtypes = dict.fromkeys(case.dtype for case in _full_cases(found).values())
    ceilings = [Ceilings.of(peaks_of(track), dtype) for dtype in dtypes]
    return [charts.Roof(one.gflops, one.gbps, one.dtype) for one in ceilings if one.gflops and one.gbps]


def _full_cases(found: Problem) -> dict[str, Case]:
    """The cases that have a place on the roofline, by name."""
    return {case.name: case for case in found.public_cases if case.flops and case.bytes}


def points_of(found: Problem, track: Track | None, ranking: Sequence[Mapping[str, Any]]) -> list[charts.Point]:
    """The times of each entrant's best sample and of the reference, by case; one query."""
    cases = _full_cases(found)
    ranked = {row["evaluation_id"]: row for row in ranking[:MAX_ENTRANTS] if row["evaluation_id"]}
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
    reference = [_point(None, REFERENCE, cases[name], ms, track) for name, ms in references.items()]
    return [*own, *reference]


def _point(entrant_id: int | None, name: str, case: Case, time_ms: float, track: Track | None) -> charts.Point:
    rates = rates_of([case], peaks_of(track), time_ms)
    assert case.flops and case.bytes
    label = f"{name}, {case.name}" if case.name else name
    intensity = case.flops / case.bytes
    return charts.Point(
        entrant_id,
        label,
        time_ms,
        rates.gflops or 0.0,
        rates.gbps or 0.0,
        rates.roofline or 0.0,
        intensity,
        name,
        case.name,
    )


def lines_of(found: Problem, ranking: Sequence[Mapping[str, Any]]) -> list[SizeLine]:
    """The times of each entrant's best sample by size, and the reference's; one query. Empty where the sizes
    of the cases with times differ too little."""
    size_of = {case.name: float(case.size) for case in found.public_cases if case.size}
    if not sizes.has_span(size_of.values()):
        return []
    ranked = {row["evaluation_id"]: row for row in ranking[:MAX_ENTRANTS] if row["evaluation_id"]}
    measured = Measurement.objects.filter(
        result__current_of__in=ranked, role=Role.CANDIDATE, case__in=size_of
    ).values_list("result__current_of", "case", "median_ms", "ci_low_ms", "ci_high_ms", "baseline__median_ms")
    if not sizes.has_span({size_of[row[1]] for row in measured}):
        return []
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
    return [*lines, SizeLine(None, REFERENCE, _by_size(references.values()))] if lines else []


def _by_size(times: Iterable[CaseTime]) -> tuple[CaseTime, ...]:
    return tuple(sorted(times, key=lambda time: (time.size, time.case)))


def spreads_of(ranking: Sequence[Mapping[str, Any]], case: Case) -> list[Spread]:
    """The processes of each entrant's best sample at one case, and the reference's; one query."""
    ranked = {row["evaluation_id"]: row for row in ranking[:MAX_ENTRANTS] if row["evaluation_id"]}
    rows = (
        Measurement.objects.filter(result__current_of__in=ranked, role=Role.CANDIDATE, case=case.name)
        .select_related("baseline")
        .annotate(evaluation_id=F("result__current_of"))
    )
    own = {row.evaluation_id: row for row in rows}
    spreads = [
        _spread(one["submission__entrant_id"], one["submission__entrant__name"], own[pk])
        for pk, one in ranked.items()
        if pk in own
    ]
    reference = next((row.baseline for row in own.values() if row.baseline), None)
    return [*spreads, _spread(None, REFERENCE, reference)] if reference else spreads


def _spread(entrant_id: int | None, name: str, row: Measurement) -> Spread:
    return Spread(entrant_id, name, tuple(row.runs_ms), row.median_ms, row.ci_low_ms, row.ci_high_ms)


def problem_figures(
    user: Any,
    found: Problem,
    track: Track | None,
    ranking: Sequence[Mapping[str, Any]],
    case: Case | None,
    asked: Mapping[str, str],
) -> list[ChartFigure]:
    """The figures below the ranking, each only if there is something to draw; at most four queries.

    `asked` holds what narrowed and ordered the ranking, by parameter of the URL.
    """
    figures = [
        _runtimes_figure(user, found, track, case, asked),
        _processes_figure(found, track, ranking, case or _largest(found), asked),
        _sizes_figure(found, track, ranking, asked),
        _roofline_figure(found, track, ranking, asked),
    ]
    return [one for one in figures if one]


def runtimes_of(user: Any, found: Problem, track: Track | None, case: Case | None) -> runtimes.Runtimes:
    """The time of every passing sample that may rank: of one case, or the geometric mean over all; two queries."""
    scores = visibility.visible_scores(user, found.release).filter(problem=found, track=track, n_timed__gt=0)
    scores = scores.exclude(submission__entrant__kind=EntrantKind.BASELINE)
    rows = list(scores.order_by("pk").values_list("submission__entrant_id", "times_ms")[:MAX_SCORES])
    timed = [(entrant_id, _time_of(cases, case)) for entrant_id, samples in rows for cases in samples]
    known = [(entrant_id, time_ms) for entrant_id, time_ms in timed if time_ms]
    on_track = ProblemTrack.objects.filter(problem=found, track=track).values_list("baseline_cases_ms", flat=True)
    return runtimes.Runtimes(
        times_ms=tuple(sorted(time_ms for _, time_ms in known)),
        n_entrants=len({entrant_id for entrant_id, _ in known}),
        reference_ms=_time_of(on_track.first() or {}, case),
    )


def _time_of(cases_ms: Mapping[str, float | None], case: Case | None) -> float | None:
    return cases_ms.get(case.name) if case else public_mean_ms(cases_ms)


def _runtimes_figure(
    user: Any, found: Problem, track: Track | None, case: Case | None, asked: Mapping[str, str]
) -> ChartFigure | None:
    shown = runtimes_of(user, found, track, case)
    if len(shown.times_ms) < runtimes.LEAST:
        return None
    title = f"{runtimes.TITLE}: {case.name}" if case else runtimes.TITLE
    address = _address("runtimes", found, track, asked, case=case.name if case else "")
    name = f"{found.release.slug}-{found.slug}-runtimes"
    caption = runtimes.caption(shown) + _of_shortest(found, track, shown.times_ms)
    return ChartFigure(title, caption, name, address, runtimes.table(shown), facts=_facts(found, track, "time"))


def _largest(found: Problem) -> Case | None:
    return max(found.public_cases, key=lambda case: case.size or 0.0, default=None)


def _processes_figure(
    found: Problem,
    track: Track | None,
    ranking: Sequence[Mapping[str, Any]],
    case: Case | None,
    asked: Mapping[str, str],
) -> ChartFigure | None:
    spreads = spreads_of(ranking, case) if case else []
    if case is None or not any(len(one.medians_ms) > 1 for one in spreads):
        return None
    title = f"{processes.TITLE}: {case.name}" if case.name else processes.TITLE
    address = _address("processes", found, track, asked, case=case.name)
    name = f"{found.release.slug}-{found.slug}-processes"
    caption = processes.CAPTION + _of_shortest(found, track, [one.median_ms for one in spreads])
    return ChartFigure(title, caption, name, address, processes.table(spreads), facts=_facts(found, track, "time"))


def _sizes_figure(
    found: Problem, track: Track | None, ranking: Sequence[Mapping[str, Any]], asked: Mapping[str, str]
) -> ChartFigure | None:
    lines = lines_of(found, ranking)
    if not lines:
        return None
    address = _address("sizes", found, track, asked)
    name = f"{found.release.slug}-{found.slug}-sizes"
    caption = sizes.CAPTION + _of_shortest(found, track, [time.median_ms for line in lines for time in line.times])
    return ChartFigure(sizes.TITLE, caption, name, address, sizes.table(lines), facts=_facts(found, track, "time"))


def _roofline_figure(
    found: Problem, track: Track | None, ranking: Sequence[Mapping[str, Any]], asked: Mapping[str, str]
) -> ChartFigure | None:
    if not roofs_of(found, track) or not (points := points_of(found, track, ranking)):
        return None
    address = _address("roofline", found, track, asked)
    name = f"{found.release.slug}-{found.slug}-roofline"
    caption = charts.CAPTION + _of_shortest(found, track, [one.best_ms for one in points])
    return ChartFigure("Roofline", caption, name, address, charts.table(points), facts=_facts(found, track, "gflops"))


def _of_shortest(found: Problem, track: Track | None, times_ms: Sequence[float]) -> str:
    """A sentence for a caption where a function's call on a GPU took less than the shortest time."""
    is_on_gpu = found.kind == Kind.FUNCTION and track is not None and track.device == "gpu"
    if not is_on_gpu or not any(one <= LEAST_MS for one in times_ms):
        return ""
    return f" A call of less than {microseconds(LEAST_MS)} counts as {microseconds(LEAST_MS)}."


def _facts(found: Problem, track: Track | None, metric: str) -> dict[str, str | int]:
    return {"problem": found.task_id, **facts_of(found.release, track, metric)}


def _address(view: str, found: Problem, track: Track | None, asked: Mapping[str, str], **more: str) -> str:
    wanted = {"track": track.slug if track else "", **asked, **more}
    query = urlencode({name: value for name, value in wanted.items() if value})
    return f"{reverse(view, args=[found.release.slug, found.slug])}?{query}"
