"""Holds a result of this machine against the published one: the verdict, and each time against its interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from podium.reproduction.published import WITH_PACK, Published, PublishedTime
from podium.reproduction.subject import ReproducedSample
from runners.wire.protocol import MeasurementReport, Report, Role, Verdict


class TimePlace(StrEnum):
    """Where a time of this machine lies."""

    INSIDE = "inside"
    BELOW = "below"
    ABOVE = "above"
    NO_INTERVAL = "no interval"
    MISSING = "missing"


class ReproducedEnding(StrEnum):
    """The result of the comparison."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    PARTLY = "partly"
    """Nothing differs, and something could not be compared: the verdict, or all times."""


@dataclass(frozen=True)
class ComparedTime:
    published: PublishedTime
    here: MeasurementReport | None

    @property
    def place(self) -> TimePlace:
        low, high = self.published.low_ms, self.published.high_ms
        if self.here is None:
            return TimePlace.MISSING
        if low is None or high is None:
            return TimePlace.NO_INTERVAL
        if self.here.median_ms < low:
            return TimePlace.BELOW
        return TimePlace.ABOVE if self.here.median_ms > high else TimePlace.INSIDE

    @property
    def words(self) -> str:
        name = f"Time in case {self.published.case}" if self.published.case else "Time"
        there = f"{_span(self.published.median_ms, self.published.low_ms, self.published.high_ms)} published"
        if self.here is None:
            return f"{name}: none here, {there}."
        here = _span(self.here.median_ms, self.here.ci_low_ms, self.here.ci_high_ms)
        return f"{name}: {here} here, {there}: {self._verdict}."

    @property
    def _verdict(self) -> str:
        assert self.here is not None
        if self.place is TimePlace.INSIDE:
            return "inside the published interval"
        share = self.here.median_ms / self.published.median_ms - 1
        away = f"{abs(share):.1%} {'longer' if share > 0 else 'shorter'}"
        if self.place is TimePlace.NO_INTERVAL:
            return f"{away}; no interval was published (n = {self.published.n_runs})"
        return f"{self.place} the published interval, {away}"


@dataclass(frozen=True)
class ReproductionComparison:
    published: Published
    subject: ReproducedSample
    report: Report
    other_hardware: str

    @property
    def is_comparable(self) -> bool:
        """Whether times can be compared: the whole problem ran, on the same hardware."""
        return self.subject.is_whole and not self.other_hardware

    @property
    def times(self) -> list[ComparedTime]:
        """Empty where nothing was timed there, or is timed here."""
        own = {one.case: one for one in self.report.measurements if one.role is Role.CANDIDATE}
        is_timed = self.subject.is_whole and self.same_verdict
        return [ComparedTime(one, own.get(one.case)) for one in self.published.times] if is_timed else []

    @property
    def same_verdict(self) -> bool:
        return self.report.verdict == self.published.verdict

    @property
    def ending(self) -> ReproducedEnding:
        if not self.subject.is_whole:
            return ReproducedEnding.DIFFERS if self._part_differs else ReproducedEnding.PARTLY
        if not self.same_verdict:
            return ReproducedEnding.DIFFERS
        places = {one.place for one in self.times}
        if not self.is_comparable and places:
            return ReproducedEnding.PARTLY
        if places & {TimePlace.BELOW, TimePlace.ABOVE, TimePlace.MISSING}:
            return ReproducedEnding.DIFFERS
        return ReproducedEnding.PARTLY if TimePlace.NO_INTERVAL in places else ReproducedEnding.REPRODUCED

    @property
    def _part_differs(self) -> bool:
        """Whether the visible part fails, though all of it passed there. A build with stand-ins may fail by itself."""
        excused = self.report.verdict is Verdict.BUILD_FAILED and bool(self.subject.stand_ins)
        return self.published.verdict == Verdict.PASSED and self.report.verdict is not Verdict.PASSED and not excused

    @property
    def lines(self) -> list[str]:
        """The findings in words, the conclusion last."""
        if not self.subject.is_whole:
            return [*self._lines_of_a_part, self.conclusion]
        reason = f" ({self.report.reason})" if self.report.reason else ""
        verdict = f"Verdict: {_words(self.report.verdict)}{reason} here, {_words(self.published.verdict)} published."
        return [verdict, *(one.words for one in self.times), *self._speedup_lines, self.conclusion]

    @property
    def _lines_of_a_part(self) -> list[str]:
        lacking = f"Held out, and so not here: {', '.join(self.subject.held_out)}."
        ran = "built and run with its visible tests" if self.subject.problem.trial_runs_tests else "built"
        outcome = f"The visible part was {ran}: {_words(self.report.verdict)}."
        return [lacking, outcome, *([self.report.reason] if self.report.reason else [])]

    @property
    def _speedup_lines(self) -> list[str]:
        there, here = self.published.result["speedup"], self.report.speedup
        if there is None or not self.times:
            return []
        if here is None:
            return [f"Speedup: {there:.3g}× published; the reference, which it is over, is not here."]
        return [f"Speedup: {here:.3g}× here, {there:.3g}× published."]

    @property
    def conclusion(self) -> str:
        if not self.subject.is_whole:
            return self._conclusion_of_a_part
        if not self.same_verdict:
            return "Not reproduced: the verdict differs."
        if not self.times:
            return "Reproduced: the verdict is the same."
        if self.other_hardware:
            return f"The verdict is reproduced. The times cannot be compared: {self.other_hardware}."
        return self._conclusion_of_times

    @property
    def _conclusion_of_times(self) -> str:
        places = [one.place for one in self.times]
        inside, n = places.count(TimePlace.INSIDE), len(places)
        if self.ending is ReproducedEnding.DIFFERS:
            return f"Not reproduced: the verdict is the same, and {inside} of {n} times lie inside their intervals."
        if self.ending is ReproducedEnding.PARTLY:
            return (
                "The verdict is reproduced. No interval was published, so the times show only how far they are apart."
            )
        return f"Reproduced: the verdict is the same, and {_all(n)} inside the published interval."

    @property
    def _conclusion_of_a_part(self) -> str:
        if self._part_differs:
            return f"Not reproduced: the visible part fails here, and the sample is published as {Verdict.PASSED}."
        if self.report.verdict is Verdict.BUILD_FAILED and self.subject.stand_ins:
            return (
                f"Its build needs held-out files ({', '.join(self.subject.stand_ins)}), so it shows nothing. The"
                f" verdict cannot be reproduced without them. {WITH_PACK}"
            )
        return f"The verdict cannot be reproduced without the held-out files. {WITH_PACK}"


def _words(verdict: str) -> str:
    return str(verdict).replace("_", " ")


def _all(n: int) -> str:
    return "its time lies" if n == 1 else f"all {n} times lie"


def _span(median_ms: float, low_ms: float | None, high_ms: float | None) -> str:
    ends = f" ({low_ms:.4g} to {high_ms:.4g})" if low_ms is not None and high_ms is not None else ""
    return f"{median_ms:.4g} ms{ends}"


def as_json(found: ReproductionComparison, notes: Sequence[str]) -> dict[str, object]:
    """The same for programs."""
    return {
        "evaluation": found.published.pk,
        "ending": found.ending.value,
        "is_whole": found.subject.is_whole,
        "held_out": list(found.subject.held_out),
        "verdict": {"published": found.published.verdict, "here": found.report.verdict.value},
        "times": [
            {
                "case": one.published.case,
                "published_ms": one.published.median_ms,
                "low_ms": one.published.low_ms,
                "high_ms": one.published.high_ms,
                "here_ms": one.here.median_ms if one.here else None,
                "place": one.place.value,
            }
            for one in found.times
        ],
        "speedup": {"published": found.published.result["speedup"], "here": found.report.speedup},
        "other_hardware": found.other_hardware,
        "notes": list(notes),
        "conclusion": found.conclusion,
    }
