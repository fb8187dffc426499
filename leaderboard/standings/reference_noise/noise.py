"""Whether times of a node and day can rank: its hidden reference, against itself, must stand at 1 × there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from operator import or_
from statistics import fmean, stdev
from typing import Any

import numpy as np
from django.db.models import Avg, Count, IntegerField, Max, Min, Q, QuerySet, Sum, Window
from django.db.models.functions import Cast, Ln

from leaderboard.models import Measurement, ReferenceRun, Result
from problems.models import Release
from runners.wire.protocol import FlagScope, Role, Verdict
from scoring.uncertainty import student_t

BAND = 0.95, 1.05
"""The unclamped speedup of references over themselves lies between these on a quiet machine."""
MOST_APART = 1.5
"""The ends of its interval are at most this factor apart."""
MOST_TOLD = 3
"""Noisy nodes and days that a board names."""


@dataclass(frozen=True)
class Ratio:
    """The geometric mean over problems of a reference's speedup over itself, with its 95 % interval."""

    ratio: float
    low: float | None
    """None if one problem without an interval of its own tells nothing of the spread."""
    high: float | None
    n_problems: int

    @property
    def is_noisy(self) -> bool:
        is_outside = not BAND[0] <= self.ratio <= BAND[1]
        return is_outside or (self.low is not None and self.high is not None and self.high > MOST_APART * self.low)


def ratio_of(lns: Sequence[float], halves: Sequence[float]) -> Ratio | None:
    """The estimate from logarithms of speedups and the half widths of their own intervals; None without any.

    The interval is the wider one of that of the timing and that of the differences between problems. Of two
    problems the ends are their own ratios: Student's t for them would refuse a third of quiet days.
    """
    if not lns:
        return None
    n, mean = len(lns), fmean(lns)
    between = float(student_t(np.array(n - 1.0))) * stdev(lns) / math.sqrt(n) if n > 2 else (max(lns) - min(lns)) / 2
    half = max(math.hypot(*halves) / n, between)
    if n == 1 and not half:
        return Ratio(math.exp(mean), None, None, n)
    return Ratio(math.exp(mean), math.exp(mean - half), math.exp(mean + half), n)


def ratio_in(run: ReferenceRun) -> Ratio | None:
    """The estimate from the current results of its references, of the times that rank. Two queries.

    Times with an open flag are left out: no such time ranks, so they say nothing of those that do.
    """
    passed = Result.objects.filter(
        current_of__submission=run.submission_id, verdict=Verdict.PASSED, provenance__node=run.node
    ).exclude(flags__scope=FlagScope.TIME)
    rows = Measurement.objects.filter(result__in=passed, role=Role.CANDIDATE, ranks=True, baseline__ranks=True)
    by_result: dict[int, list[tuple[float, float]]] = {}
    for own in rows.select_related("baseline"):
        if own.result_id and own.baseline:
            ln = math.log(own.baseline.median_ms / own.median_ms)
            by_result.setdefault(own.result_id, []).append((ln, math.hypot(_half(own), _half(own.baseline))))
    cases = list(by_result.values())
    lns = [fmean(ln for ln, _ in one) for one in cases]
    return ratio_of(lns, [math.hypot(*(half for _, half in one)) / len(one) for one in cases])


def _half(one: Measurement) -> float:
    """Half the width of the interval, as a logarithm; 0 without an interval."""
    if not one.ci_low_ms or not one.ci_high_ms:
        return 0.0
    return math.log(one.ci_high_ms / one.ci_low_ms) / 2


def noisy_results(release_id: int, track_id: int, results: QuerySet[Result]) -> frozenset[int]:
    """Those whose times do not rank because of their node and day. One query, and one more if there are such days.

    When a day's noise was found out is no matter: a board as of that day leaves these times out, too.
    """
    runs = ReferenceRun.objects.filter(release=release_id, track=track_id, is_noisy=True)
    days = [Q(**one.served) for one in runs]
    return frozenset(results.filter(reduce(or_, days)).values_list("pk", flat=True)) if days else frozenset()


def is_noisy(result: Result) -> bool:
    """Whether its time does not rank because of its node and day. Two queries at most."""
    found = result.evaluation
    return bool(noisy_results(found.submission.release_id, found.track_id, Result.objects.filter(pk=result.pk)))


@dataclass(frozen=True)
class ReferenceFacts:
    """A board's facts on its hidden references, over all nodes and days that have timed them."""

    ratio: float
    low: float | None
    """The lowest end of an interval."""
    high: float | None
    n_runs: int
    noisy: Sequence[ReferenceRun]
    """The latest of them."""
    n_noisy: int

    @property
    def facts(self) -> dict[str, Any]:
        """For exports."""
        names = "node", "day", "ratio", "low", "high"
        return {
            "ratio": self.ratio, "low": self.low, "high": self.high, "nodes_and_days": self.n_runs,
            "n_noisy": self.n_noisy, "noisy": [{name: getattr(one, name) for name in names} for one in self.noisy],
        }  # fmt: skip

    @property
    def notices(self) -> list[str]:
        """In sentences."""
        days = "1 node and day" if self.n_runs == 1 else f"{self.n_runs} nodes and days"
        words = [f"The hidden reference stands at {_words(self)} over {days}."]
        if self.noisy:
            said = "; ".join(f"{_words(one)} on {one.node}, {one.day}" for one in self.noisy)
            more = f"; and on {left} more" if (left := self.n_noisy - len(self.noisy)) else ""
            words.append(f"Noisy: it stands at {said}{more}. Times that were measured there on that day do not rank.")
        return words


def references_of(release: Release, track_slug: str, as_of: date | None = None) -> ReferenceFacts | None:
    """None if no reference has a time yet. One query."""
    runs = ReferenceRun.objects.filter(release=release, track__slug=track_slug).exclude(ratio=None)
    if as_of is not None:
        runs = runs.filter(day__lte=as_of)
    over_all = {"n": Count("pk"), "ln": Avg(Ln("ratio")), "least": Min("low"), "most": Max("high")}
    over_all["n_noisy"] = Sum(Cast("is_noisy", IntegerField()))
    told = runs.annotate(**{name: Window(figure) for name, figure in over_all.items()})
    latest: list[Any] = list(told.order_by("-is_noisy", "-day", "node")[:MOST_TOLD])
    if not latest:
        return None
    noisy, first = [run for run in latest if run.is_noisy], latest[0]
    return ReferenceFacts(math.exp(first.ln), first.least, first.most, first.n, noisy, first.n_noisy)


def _words(one: ReferenceFacts | ReferenceRun) -> str:
    return f"{one.ratio:.2f}×" + (f" ({one.low:.2f}–{one.high:.2f})" if one.low and one.high else "")
