"""A result's speedup as it is shown: with its interval, and over how many of the cases that are timed."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from leaderboard.models import Measurement, ProblemTrack, Result, ResultCase
from leaderboard.site import numerals
from problems.spec.no_time import NO_TIME
from runners.wire.protocol import Role
from scoring.speedup_interval import Timed, speedup_interval


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


def counted_of(
    result: Result,
    own: Sequence[Measurement],
    cases: Iterable[ResultCase],
    places: Iterable[ProblemTrack],
    track_id: int,
) -> CountedCases | None:
    """The counted cases; None without a speedup or fixed cases. `own` are the candidate's measurements."""
    timed = next((one.timed_cases for one in places if one.track_id == track_id), None)
    if timed is None or result.speedup is None:
        return None
    return _counted([one.case for one in own], cases, timed)


@dataclass(frozen=True)
class Headline:
    """A result's speedup as pages and the API show it: with its interval, if all of its times have one."""

    speedup: float | None
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        return numerals.ratio(self.speedup, self.low, self.high)

    @property
    def interval(self) -> str:
        return numerals.ratio_interval(self.low, self.high)

    @property
    def ends(self) -> str:
        """The interval as boards write it."""
        digits = numerals.supported(self.low, self.high)
        return numerals.ends(self.low, self.high, digits=2 if digits is None else digits)


def headline_of(result: Result, own: Sequence[Measurement], cases: Iterable[ResultCase]) -> Headline:
    """`own` are the candidate's measurements with their baselines. Makes no query."""
    pairs = [(timed(one.baseline), timed(one)) for one in own if one.baseline]
    n_untimed = len(_without_time(cases) - {one.case for one in own})
    if result.speedup is None or len(pairs) < len(own):
        return Headline(result.speedup)
    low, high = speedup_interval(result.speedup, pairs, n_untimed) or (None, None)
    return Headline(result.speedup, low, high)


def timed(one: Measurement) -> Timed:
    """Its time with the ends of its interval."""
    return Timed(one.median_ms, one.ci_low_ms, one.ci_high_ms)


def fewer_of(evaluation_ids: Collection[int], timed: Sequence[str] | None) -> dict[int, CountedCases]:
    """Current results of these evaluations that are over fewer cases, by evaluation. At most two queries."""
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
    return CountedCases(len((set(own) | _without_time(cases)) & set(timed)), len(timed))


def _without_time(cases: Iterable[ResultCase]) -> set[str]:
    """The cases that have no time for the solution's own reasons."""
    return {case.name for case in cases if any(field["name"] == NO_TIME for field in case.fields)}
