"""A problem's ranking on a track: each entrant's best time in the problem's own units."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import F

from leaderboard import visibility
from leaderboard.models import Measurement, ProblemTrack, Track
from leaderboard.rates import Rates, cases_with_time, rates_of
from problems.models import Problem
from problems.spec.case import Case
from runners.wire.protocol import Role

RANKING_ROWS = 100


def ranking_of(user: Any, found: Problem, track: Track | None, language: str = "") -> list[dict[str, Any]]:
    """Each entrant's fastest passing submission on the track; passes without a ranking time come last.

    With a language, only the submissions whose fastest sample is written in it.
    """
    scores = visibility.visible_scores(user, found.release).filter(problem=found, track=track, n_passed__gt=0)
    if language:
        scores = scores.filter(best_evaluation__sample__language=language)
    rows = scores.order_by(F("best_ms").asc(nulls_last=True), "submission_id").values(
        "submission_id", "submission__entrant_id", "submission__entrant__slug", "submission__entrant__name",
        "submission__entrant__kind", "n_passed", "n_samples", "best_ms", "best_speedup", "best_evaluation_id",
        "best_evaluation__sample__language", "n_open_flags", "n_upheld_flags",
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
    columns = ("result__current_of", "median_ms", "baseline__median_ms", "ci_low_ms", "ci_high_ms")
    times = {pk: times for pk, *times in measured.values_list(*columns)}
    rows = [dict(row) | _on_case(track, case, *times.get(row["best_evaluation_id"], [None] * 4)) for row in ranking]
    return sorted(rows, key=lambda row: (row["best_ms"] is None, row["best_ms"] or 0.0))


def _on_case(
    track: Track | None,
    case: Case,
    own_ms: float | None,
    baseline_ms: float | None,
    low_ms: float | None,
    high_ms: float | None,
) -> dict[str, Any]:
    rates = Rates() if own_ms is None else rates_of([case], peaks_of(track), own_ms)
    speedup = baseline_ms / own_ms if own_ms and baseline_ms else None
    return {"best_ms": own_ms, "best_speedup": speedup, "rates": rates, "low_ms": low_ms, "high_ms": high_ms}


def _rates(cases: Sequence[Case], track: Track | None, best_ms: float | None) -> Rates:
    return Rates() if best_ms is None else rates_of(cases, peaks_of(track), best_ms)


def peaks_of(track: Track | None) -> Mapping[str, Any]:
    return track.peaks if track else {}
