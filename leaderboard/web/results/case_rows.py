"""The cases of a result as its page shows them: verdict, time and rates of each, and what was wrong with an answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.models import Measurement
from leaderboard.results.headline import timed
from leaderboard.results.rates import Rates
from leaderboard.results.shown_cases import ShownCase
from leaderboard.results.timings import Timing
from leaderboard.site import numerals
from leaderboard.site.numerals import MISSING
from runners.wire.protocol import Role, Verdict
from scoring.speedup_interval import speedup_interval

_DIFFERENCE = ("message", "shapes", "largest_difference", "mean_difference", "n_wrong", "n_total", "first_wrong")
_CALLS = "n_calls"


@dataclass(frozen=True)
class CaseRow:
    """One case. Times are None where it was not timed."""

    name: str
    verdict: str
    own: Measurement | None
    baseline: Measurement | None
    """The primary one."""
    rates: Rates
    n_calls: int | None
    difference: Mapping[str, Any]
    """The answer's differences from the expected one, by the names of the judge's fields; empty without any."""
    facts: Mapping[str, Any]
    """All other fields that the reader may see."""

    @property
    def own_ms(self) -> float | None:
        return self.own.median_ms if self.own else None

    @property
    def speedup(self) -> str:
        """The time with the decimals that its interval supports."""
        if not self.own or not self.baseline:
            return MISSING
        ratio = self.baseline.median_ms / self.own.median_ms
        own, baseline = timed(self.own), timed(self.baseline)
        low, high = speedup_interval(ratio, [(baseline, own)]) or (None, None)
        return numerals.ratio(ratio, low, high)


@dataclass(frozen=True)
class CaseTable:
    """All cases, and which columns any of them fills."""

    rows: Sequence[CaseRow]

    @property
    def has_times(self) -> bool:
        return any(row.own_ms for row in self.rows)

    @property
    def has_untimed(self) -> bool:
        """Whether some cases have times and another, which passed, has none."""
        return self.has_times and any(row.verdict == Verdict.PASSED and row.own_ms is None for row in self.rows)

    @property
    def has_calls(self) -> bool:
        return any(row.n_calls is not None for row in self.rows)

    @property
    def has_facts(self) -> bool:
        return any(row.facts for row in self.rows)

    @property
    def wrong(self) -> list[CaseRow]:
        """The cases whose difference the reader may see."""
        return [row for row in self.rows if row.difference]


def case_table(cases: Sequence[ShownCase], timings: Sequence[Timing]) -> CaseTable:
    times = {(one.measurement.case, one.measurement.role): one for one in timings}
    return CaseTable([_row(case, times) for case in cases])


def _row(case: ShownCase, times: Mapping[tuple[str, str], Timing]) -> CaseRow:
    facts = dict(case.facts)
    n_calls = facts.pop(_CALLS, None)
    difference = {name: facts.pop(name) for name in _DIFFERENCE if name in facts}
    own, baseline = times.get((case.name, Role.CANDIDATE)), times.get((case.name, Role.BASELINE))
    return CaseRow(
        name=case.name,
        verdict=case.verdict,
        own=own.measurement if own else None,
        baseline=baseline.measurement if baseline else None,
        rates=own.rates if own else Rates(),
        n_calls=n_calls,
        difference=difference,
        facts=facts,
    )
