"""Over how many of a problem's timed cases a result's speedup is: it may be over fewer than are fixed now."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from leaderboard.models import Measurement, ProblemTrack, Result, ResultCase
from problems.spec.no_time import NO_TIME
from runners.wire.protocol import Role


@dataclass(frozen=True)
class CountedCases:
    n: int
    n_timed: int
    """The cases that are timed for everybody on the track."""

    @property
    def is_fewer(self) -> bool:
        return self.n < self.n_timed

    @property
    def words(self) -> str:
        """`2 of 3 cases`; empty where it is over all of them."""
        return f"{self.n} of {self.n_timed} cases" if self.is_fewer else ""


def counted_of(result: Result, places: Iterable[ProblemTrack], track_id: int) -> CountedCases | None:
    """From the result's rows; None if it has no speedup, or if the cases are not fixed. Makes no query of its own."""
    timed = next((one.timed_cases for one in places if one.track_id == track_id), None)
    if timed is None or result.speedup is None:
        return None
    own = [one.case for one in result.measurements.all() if one.role == Role.CANDIDATE]
    return _counted(own, result.cases.all(), timed)


def fewer_of(evaluation_ids: Collection[int], timed: Sequence[str] | None) -> dict[int, CountedCases]:
    """Of current results of these evaluations those that are over fewer cases, by evaluation. At most two queries."""
    if not timed or not evaluation_ids:
        return {}
    rows = Measurement.objects.filter(result__current_of__in=evaluation_ids, role=Role.CANDIDATE)
    own: dict[int, list[str]] = {}
    for pk, case in rows.values_list("result__current_of", "case"):
        own.setdefault(pk, []).append(case)
    lacking = [pk for pk, cases in own.items() if not set(cases) >= set(timed)]
    told: dict[int, list[ResultCase]] = {}
    rows_of_cases = ResultCase.objects.filter(result__current_of__in=lacking).select_related("result__current_of")
    for row in rows_of_cases if lacking else ():
        told.setdefault(row.result.current_of.pk, []).append(row)
    found = {pk: _counted(own[pk], told.get(pk, []), timed) for pk in lacking}
    return {pk: one for pk, one in found.items() if one.is_fewer}


def _counted(own: Collection[str], cases: Iterable[ResultCase], timed: Sequence[str]) -> CountedCases:
    no_time = {case.name for case in cases if any(field["name"] == NO_TIME for field in case.fields)}
    return CountedCases(len((set(own) | no_time) & set(timed)), len(timed))
