"""A problem's ranking on a track: of each entrant the best sample, with its own time and its own speedup."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from django.db.models import F

from leaderboard import visibility
from leaderboard.errors import refuse_unknown
from leaderboard.models import Measurement, ProblemTrack, Track
from leaderboard.results.headline import CountedCases, fewer_of
from leaderboard.results.rates import Rates, cases_with_time, rates_of
from problems.models import Problem, Release
from problems.spec.case import Case
from runners.wire.protocol import Role
from scoring.metrics import GFLOPS, ROOFLINE, SOL_SCORE

RANKING_ROWS = 100
_BY_TIME = {metric.name for metric in (GFLOPS, ROOFLINE, SOL_SCORE)}
"""Primary metrics whose figures are made from times alone."""


class By(StrEnum):
    """The figure by which samples are compared: it chooses each entrant's sample and orders the rows."""

    SPEEDUP = "speedup"
    TIME = "time"


FIELDS = {
    By.SPEEDUP: (F("best_speedup").desc(nulls_last=True), "best_speedup_evaluation", "best_speedup_ms", "best_speedup"),
    By.TIME: (
        F("best_ms").asc(nulls_last=True), "best_evaluation", "best_ms", "best_evaluation__current_result__speedup",
    ),
}  # fmt: skip
"""The order, and the fields of the sample, its time and its speedup."""


def counted_figure(release: Release) -> By:
    """The figure that the release's scores are made from."""
    return By.TIME if release.primary_metric in _BY_TIME else By.SPEEDUP


def chosen_figure(asked: str, release: Release) -> By:
    """The figure that the URL names, else the counted one. Raises BadQuery."""
    refuse_unknown("by", asked, By)
    return By(asked) if asked else counted_figure(release)


def ranking_of(
    user: Any, found: Problem, track: Track | None, language: str = "", by: By | None = None
) -> list[dict[str, Any]]:
    """Each entrant's best passing sample on the track; passes without a time that may rank come last.

    `evaluation_id`, `time_ms`, `speedup` and `language` of a row are of that one sample. With a language, only the
    samples written in it. `by` is the counted figure where it is None.
    """
    order, sample, time_ms, speedup = FIELDS[by or counted_figure(found.release)]
    scores = visibility.visible_scores(user, found.release).filter(problem=found, track=track, n_passed__gt=0)
    if language:
        scores = scores.filter(**{f"{sample}__sample__language": language})
    rows = scores.order_by(order, "submission_id").values(
        "submission_id", "submission__entrant_id", "submission__entrant__slug", "submission__entrant__name",
        "submission__entrant__kind", "n_passed", "n_samples", "n_open_flags", "n_upheld_flags",
        evaluation_id=F(f"{sample}_id"), time_ms=F(time_ms), speedup=F(speedup),
        language=F(f"{sample}__sample__language"), sample_index=F(f"{sample}__sample__index"),
    )[: RANKING_ROWS * 5]  # fmt: skip
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(row["submission__entrant__slug"], dict(row))
    ranked = list(first.values())[:RANKING_ROWS]
    on_track = ProblemTrack.objects.filter(problem=found, track=track).first()
    cases = cases_with_time(found.public_cases, on_track.names_of_timed_cases if on_track else ())
    judged = [one["evaluation_id"] for one in ranked if one["evaluation_id"]]
    fewer = fewer_of(judged, on_track.timed_cases if on_track else None)
    return [one | _figures(one, cases, track, fewer.get(one["evaluation_id"])) for one in ranked]


def clocks_of(ranking: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which clocks took the samples' times. Makes one query."""
    judged = [row["evaluation_id"] for row in ranking if row["evaluation_id"]]
    rows = Measurement.objects.filter(result__current_of__in=judged, role=Role.CANDIDATE)
    return sorted(rows.order_by().values_list("clock", flat=True).distinct())


def ranked_by_case(
    track: Track | None, ranking: Sequence[Mapping[str, Any]], case: Case, by: By
) -> list[dict[str, Any]]:
    """The same samples with time, speedup and rates of one case, the best first. Makes one query."""
    measured = Measurement.objects.filter(
        result__current_of__in=[row["evaluation_id"] for row in ranking if row["evaluation_id"]],
        role=Role.CANDIDATE,
        case=case.name,
    )
    columns = ("result__current_of", "median_ms", "baseline__median_ms")
    times = {pk: times for pk, *times in measured.values_list(*columns)}
    rows = [dict(row) | _on_case(track, case, *times.get(row["evaluation_id"], [None] * 2)) for row in ranking]
    if by is By.TIME:
        return sorted(rows, key=lambda row: (row["time_ms"] is None, row["time_ms"] or 0.0))
    return sorted(rows, key=lambda row: (row["speedup"] is None, -(row["speedup"] or 0.0)))


def _on_case(track: Track | None, case: Case, own_ms: float | None, baseline_ms: float | None) -> dict[str, Any]:
    rates = Rates() if own_ms is None else rates_of([case], peaks_of(track), own_ms)
    return {"time_ms": own_ms, "speedup": baseline_ms / own_ms if own_ms and baseline_ms else None, "rates": rates}


def _figures(
    row: Mapping[str, Any], cases: Sequence[Case], track: Track | None, fewer: CountedCases | None
) -> dict[str, Any]:
    """Its rates, and over how many cases it is if over fewer; it then has no rates, whose work is that of all cases."""
    return {"rates": Rates() if fewer else _rates(cases, track, row["time_ms"]), "fewer": fewer}


def _rates(cases: Sequence[Case], track: Track | None, time_ms: float | None) -> Rates:
    return Rates() if time_ms is None else rates_of(cases, peaks_of(track), time_ms)


def peaks_of(track: Track | None) -> Mapping[str, Any]:
    return track.peaks if track else {}


def why_no_roofline(found: Problem, track: Track | None, cases: Sequence[Case]) -> str:
    """Returns the reason why no row has a share of the roofline; empty where rows with a time have one."""
    if all(rates_of([case], peaks_of(track), 1.0).roofline is not None for case in cases):
        return ""
    if not peaks_of(track):
        return f"The peaks of {track.slug if track else 'the track'} are not measured yet."
    kinds = sorted({case.dtype for case in cases if case.flops})
    if any(not case.flops and not case.bytes for case in cases):
        return f"Not every case of {found.task_id} declares its work."
    return f"The track has no measured peak for {' or '.join(kinds) or 'what it moves'}."
