"""A rejudge's page as plain rows: progress, the matrix of verdicts, the entrants concerned, and the changed samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Prefetch, Q, QuerySet

from leaderboard.models import Counted, EvaluationState, Rejudge, RejudgeItem, Submission, Track
from leaderboard.models.curation.rejudge import Change, RejudgeOutcome
from problems.models import Problem
from runners.wire.protocol import Verdict

PAGE_ROWS = 100
_CHANGED = Q(change__in=[Change.VERDICT, Change.TIME])
_LOST = Q(before_verdict=Verdict.PASSED) & ~Q(after_verdict__in=["", Verdict.PASSED])
_GAINED = ~Q(before_verdict=Verdict.PASSED) & Q(after_verdict=Verdict.PASSED)
_SLOWER = Q(change=Change.TIME, time_ratio__gt=1)
_FASTER = Q(change=Change.TIME, time_ratio__lt=1)


@dataclass(frozen=True)
class Totals:
    n: int
    n_judged: int
    n_cancelled: int
    n_verdicts: int
    n_slower: int
    n_faster: int
    outcomes: Sequence[tuple[str, int]]
    """Words and number by outcome, once the rejudge was applied."""

    @property
    def n_waiting(self) -> int:
        return self.n - self.n_judged - self.n_cancelled

    @property
    def n_times(self) -> int:
        return self.n_slower + self.n_faster


@dataclass(frozen=True)
class MatrixCell:
    n: int
    is_change: bool


@dataclass(frozen=True)
class Matrix:
    """Numbers of evaluations by live verdict (rows) and by the rejudge's (columns)."""

    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[MatrixCell]]]


def totals(rejudge: Rejudge) -> Totals:
    """Three queries."""
    n_cancelled = rejudge.items.filter(after=None, shadow__state=EvaluationState.CANCELLED).count()
    found = rejudge.items.aggregate(
        n=Count("pk"),
        n_judged=Count("pk", filter=Q(after__isnull=False)),
        n_verdicts=Count("pk", filter=Q(change=Change.VERDICT)),
        n_slower=Count("pk", filter=_SLOWER),
        n_faster=Count("pk", filter=_FASTER),
    )
    rows = rejudge.items.exclude(outcome="").order_by("outcome").values_list("outcome").annotate(n=Count("pk"))
    return Totals(outcomes=[(RejudgeOutcome(name).label, n) for name, n in rows], n_cancelled=n_cancelled, **found)


def matrix(rejudge: Rejudge) -> Matrix:
    """One query."""
    rows = rejudge.items.filter(after__isnull=False).order_by().values_list("before_verdict", "after_verdict")
    counts = {(before, after): n for before, after, n in rows.annotate(n=Count("pk"))}
    order = [verdict.value for verdict in Verdict]
    columns = [one for one in order if any(after == one for _, after in counts)]
    befores = [one for one in order if any(before == one for before, _ in counts)]
    return Matrix(
        columns,
        [(row, [MatrixCell(counts.get((row, column), 0), row != column) for column in columns]) for row in befores],
    )


@dataclass(frozen=True)
class EntrantChanges:
    """The changes that one submission would have on one track. Its entrant's rank may move only if it is counted."""

    submission: Submission
    track: Track
    is_counted: bool
    n: Mapping[str, int]
    """Numbers of evaluations: all, passed before and after, lost, gained, slower, faster, changed."""


def entrants(rejudge: Rejudge) -> list[EntrantChanges]:
    """The first PAGE_ROWS with a change: counted submissions, those that lose passes first. Four queries."""
    numbers = {
        "all": Count("pk"),
        "before": Count("pk", filter=Q(before_verdict=Verdict.PASSED)),
        "after": Count("pk", filter=Q(after_verdict=Verdict.PASSED)),
        "lost": Count("pk", filter=_LOST),
        "gained": Count("pk", filter=_GAINED),
        "slower": Count("pk", filter=_SLOWER),
        "faster": Count("pk", filter=_FASTER),
        "changed": Count("pk", filter=_CHANGED),
    }
    places = rejudge.items.filter(after__isnull=False).order_by()
    groups: Any = places.values(place=F("live__submission"), on=F("live__track"))
    rows = list(groups.annotate(**{f"n_{name}": n for name, n in numbers.items()}).filter(n_changed__gt=0))
    counted = set(
        Counted.objects.filter(submission__in={row["place"] for row in rows}).values_list("submission", "track")
    )
    rows.sort(key=lambda row: ((row["place"], row["on"]) not in counted, -row["n_lost"], -row["n_changed"]))
    shown = rows[:PAGE_ROWS]
    related = Submission.objects.select_related("entrant", "release")
    submissions, tracks = related.in_bulk([row["place"] for row in shown]), Track.objects.in_bulk()
    return [
        EntrantChanges(
            submissions[row["place"]],
            tracks[row["on"]],
            (row["place"], row["on"]) in counted,
            {name: row[f"n_{name}"] for name in numbers},
        )
        for row in shown
    ]


def changes(rejudge: Rejudge, kind: str = "") -> QuerySet[RejudgeItem]:
    """The changed samples, or those of one kind of change."""
    rows = rejudge.items.filter(change=kind) if kind in Change.values else rejudge.items.filter(_CHANGED)
    problems = Prefetch("live__problem", Problem.objects.only("task_id"))
    # not joined: the database would join all of them before it takes a page
    related = (problems, "live__track", "live__sample", "live__submission__entrant")
    return rows.prefetch_related(*related).order_by("id")
