"""A problem's ranking on a track: each entrant's best time in the problem's own units, and their roofline."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import F
from django.urls import reverse

from leaderboard import visibility
from leaderboard.charts import roofline as charts
from leaderboard.charts.chart import MAX_ENTRANTS
from leaderboard.models import ProblemTrack, Track
from leaderboard.web.figures import Figure, with_track
from leaderboard.work import Ceilings, Rates, Work, rates
from problems.models import Problem

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
    return [one | {"rates": _rates(found, track, one["best_ms"])} for one in ranked]


def _rates(found: Problem, track: Track | None, best_ms: float | None) -> Rates:
    return Rates(None, None, None) if best_ms is None else rates(Work.of(found), _ceilings(found, track), best_ms)


def _ceilings(found: Problem, track: Track | None) -> Ceilings:
    return Ceilings.of(track.peaks if track else {}, Work.of(found).dtype)


def roof_of(found: Problem, track: Track | None) -> charts.Roofline | None:
    """None where the problem does not declare both kinds of work, or the track's peaks are not measured."""
    work, ceilings = Work.of(found), _ceilings(found, track)
    if work.intensity is None or not ceilings.gflops or not ceilings.gbps:
        return None
    return charts.Roofline(ceilings.gflops, ceilings.gbps, work.dtype, work.intensity)


def points_of(
    found: Problem, track: Track | None, ranking: Sequence[Mapping[str, Any]], on_track: ProblemTrack | None
) -> list[charts.Point]:
    """The best times of the ranking, and the reference's."""
    times = [
        (row["submission__entrant_id"], row["submission__entrant__name"], row["best_ms"])
        for row in ranking[:MAX_ENTRANTS]
    ]
    times.append((None, "Reference solution", on_track.baseline_median_ms if on_track else None))
    known = [(pk, name, time, _rates(found, track, time)) for pk, name, time in times if time]
    return [
        charts.Point(pk, name, time, one.gflops or 0.0, one.gbps or 0.0, one.roofline or 0.0)
        for pk, name, time, one in known
    ]


def figure_of(
    found: Problem, track: Track | None, ranking: Sequence[Mapping[str, Any]], on_track: ProblemTrack | None
) -> Figure | None:
    points = points_of(found, track, ranking, on_track)
    if roof_of(found, track) is None or not points:
        return None
    address = with_track(reverse("roofline", args=[found.release.slug, found.slug]), track)
    name = f"{found.release.slug}-{found.slug}-roofline"
    return Figure("Roofline", charts.CAPTION, name, address, charts.table(points))
