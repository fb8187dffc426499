"""Intervals of a problem's ranked samples, and the places that they allow."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.models import Measurement, ProblemTrack
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.site.numerals import milliseconds_interval, ratio_interval
from problems.spec.case import Case, is_held_out
from runners.wire.protocol import Role
from scoring.problem_places import PlacedFigure, places
from scoring.speedup_interval import Timed, speedup_interval

NO_INTERVAL = "no interval"


@dataclass(frozen=True)
class _TimedRun:
    """A sample's case with its baseline, if it has one."""

    case: str
    own: Timed
    baseline: Timed | None


def with_intervals(
    rows: Sequence[Mapping[str, Any]], on_track: ProblemTrack | None, case: Case | None
) -> list[dict[str, Any]]:
    """The rows with `time_figure` and `speedup_figure`, and both intervals in words. One query.

    With a case the figures are of it alone, as `time_ms` and `speedup` are.
    """
    found = _runs_of([row["evaluation_id"] for row in rows if row["evaluation_id"]], case)
    return [dict(row) | _figures(row, found.get(row["evaluation_id"], []), on_track, case) for row in rows]


def with_places(rows: Sequence[Mapping[str, Any]], figure: str) -> list[dict[str, Any]]:
    """The rows with their `place` by the figure of that key; None for baselines, which count for no other's place, and
    for rows without a figure."""
    found = iter(places([row[figure] for row in rows if _has_place(row, figure)]))
    return [dict(row) | {"place": next(found) if _has_place(row, figure) else None} for row in rows]


def _has_place(row: Mapping[str, Any], figure: str) -> bool:
    return not _is_baseline(row) and row[figure].value is not None


def _is_baseline(row: Mapping[str, Any]) -> bool:
    return bool(row["submission__entrant__kind"] == EntrantKind.BASELINE)


def _runs_of(evaluation_ids: Sequence[int], case: Case | None) -> dict[int, list[_TimedRun]]:
    measured = Measurement.objects.filter(result__current_of__in=evaluation_ids, role=Role.CANDIDATE)
    if case:
        measured = measured.filter(case=case.name)
    found: dict[int, list[_TimedRun]] = {}
    ends = ("median_ms", "ci_low_ms", "ci_high_ms")
    columns = ("result__current_of", "case", *ends, *(f"baseline__{one}" for one in ends))
    for pk, name, *times in measured.values_list(*columns):
        baseline = None if times[3] is None else Timed(*times[3:])
        found.setdefault(pk, []).append(_TimedRun(name, Timed(*times[:3]), baseline))
    return found


def _figures(
    row: Mapping[str, Any], runs: Sequence[_TimedRun], on_track: ProblemTrack | None, case: Case | None
) -> dict[str, Any]:
    time_ms, speedup = row["time_ms"], row["speedup"]
    of_time = _time_ends(time_ms, [one.own for one in runs if case or not is_held_out(one.case)])
    of_speedup = _speedup_ends(speedup, runs, 0 if case else _n_at_one(row, runs, on_track))
    slowest, fastest = reversed(of_time) if of_time else (None, None)
    return {
        "time_figure": PlacedFigure(1 / time_ms, 1 / slowest, 1 / fastest)
        if time_ms and slowest and fastest
        else PlacedFigure(1 / time_ms if time_ms else None),
        "speedup_figure": PlacedFigure(speedup, *(of_speedup or (None, None))),
        "time_interval": milliseconds_interval(time_ms, *of_time, 0) if of_time else NO_INTERVAL,
        "speedup_interval": ratio_interval(*of_speedup).removeprefix("95 % interval ") if of_speedup else NO_INTERVAL,
    }


def _time_ends(time_ms: float | None, times: Sequence[Timed]) -> tuple[float, float] | None:
    """The ends of a time that is the geometric mean of these; None if one has no interval."""
    if not time_ms or not times or any(None in (one.low_ms, one.high_ms) for one in times):
        return None
    shorter = _mean_arm((one.median_ms, one.low_ms) for one in times)
    longer = _mean_arm((one.high_ms, one.median_ms) for one in times)
    return time_ms / math.exp(shorter / len(times)), time_ms * math.exp(longer / len(times))


def _mean_arm(ends: Iterable[tuple[float | None, float | None]]) -> float:
    """The root of the sum of squares of the arms, in logarithms; an arm is never negative."""
    return math.hypot(*(max(0.0, math.log(upper / lower)) for upper, lower in ends if upper and lower))


def _speedup_ends(speedup: float | None, runs: Sequence[_TimedRun], n_at_one: int) -> tuple[float, float] | None:
    pairs = [(one.baseline, one.own) for one in runs if one.baseline]
    return speedup_interval(speedup, pairs, n_at_one) if speedup and len(pairs) == len(runs) else None


def _n_at_one(row: Mapping[str, Any], runs: Sequence[_TimedRun], on_track: ProblemTrack | None) -> int:
    """The cases that have no time for the solution's own reasons, and count 1."""
    timed = set(on_track.timed_cases or ()) if on_track else set()
    counted = row["fewer"].n if row["fewer"] else len(timed)
    return max(0, counted - len(timed & {one.case for one in runs}))
