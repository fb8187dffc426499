"""Whether times of a node and day can rank: its hidden reference, against itself, must stand at 1 × there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from statistics import fmean, stdev

from django.db.models import Q, QuerySet

from leaderboard.models import Measurement, ReferenceRun, Result, Submission, Track
from problems.models import Release
from runners.wire.protocol import Role, Verdict
from scoring.throughput import geometric_mean

BAND = 0.95, 1.05
"""The unclamped speedup of references over themselves lies between these on a quiet machine."""
MOST_APART = 1.5
"""The ends of its interval are at most this factor apart."""
Z = 1.96


@dataclass(frozen=True)
class Ratio:
    """The geometric mean over problems of a reference's speedup over itself, with its 95 % interval."""

    ratio: float
    low: float
    high: float
    n_problems: int

    @property
    def is_noisy(self) -> bool:
        is_outside = not BAND[0] <= self.ratio <= BAND[1]
        return is_outside or self.high > MOST_APART * self.low


def ratio_of(lns: Sequence[float], halves: Sequence[float]) -> Ratio | None:
    """Of the logarithms of speedups and the half widths of their own intervals; None without any.

    The interval is the wider one of that of the timing and that of the differences between problems.
    """
    if not lns:
        return None
    n, mean = len(lns), fmean(lns)
    between = Z * stdev(lns) / math.sqrt(n) if n > 1 else 0.0
    half = max(math.hypot(*halves) / n, between)
    return Ratio(math.exp(mean), math.exp(mean - half), math.exp(mean + half), n)


def ratio_in(submission: Submission) -> Ratio | None:
    """That of the current results of a reference run. Two queries."""
    passed = Result.objects.filter(current_of__submission=submission, verdict=Verdict.PASSED, speedup__isnull=False)
    rows = Measurement.objects.filter(result__in=passed, role=Role.CANDIDATE).select_related("baseline")
    by_result: dict[int, list[tuple[float, float]]] = {}
    for own in rows:
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


def results_of(run: ReferenceRun) -> Q:
    """The results that this run vouches for."""
    since = datetime.combine(run.day, time(), UTC)
    return Q(provenance__node=run.node, created_at__gte=since, created_at__lt=since + timedelta(days=1))


def noisy_results(
    release: Release, track: Track, results: QuerySet[Result], before: datetime | None = None
) -> set[int]:
    """Those whose times do not rank because of their node and day. One query, and one more if there are such days."""
    runs = ReferenceRun.objects.filter(release=release, track=track, is_noisy=True)
    if before is not None:
        runs = runs.filter(settled_at__lt=before)
    days = Q(pk__in=[])
    for run in runs:
        days |= results_of(run)
    return set(results.filter(days).values_list("pk", flat=True)) if days != Q(pk__in=[]) else set()


def notices(release: Release, track_slug: str) -> list[str]:
    """What a board says about its references, in sentences. One query."""
    runs = ReferenceRun.objects.filter(release=release, track__slug=track_slug).exclude(ratio=None).order_by("day")
    settled = list(runs)
    if not settled:
        return []
    mean = geometric_mean(one.ratio for one in settled)
    low, high = min(one.low or 0.0 for one in settled), max(one.high or 0.0 for one in settled)
    days = "1 node and day" if len(settled) == 1 else f"{len(settled)} nodes and days"
    words = [f"The hidden reference stands at {mean:.2f}× ({low:.2f}–{high:.2f}) over {days}."]
    if noisy := [one for one in settled if one.is_noisy]:
        said = "; ".join(f"{one.ratio:.2f}× ({one.low:.2f}–{one.high:.2f}) on {one.node}, {one.day}" for one in noisy)
        words.append(f"Noisy: it stands at {said}. Times that were measured there on that day do not rank.")
    return words
