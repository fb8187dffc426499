"""How far a submission is: counts by stage and verdict, its place in the queue, who works on it, and its matrix."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from leaderboard.models import Decision, Evaluation, EvaluationState, Flag, Submission, SubmissionState, Track
from leaderboard.web.verdicts import STATES, VERDICTS, Look, look_of
from problems.models import Problem
from runners.fleet.models import Attempt, AttemptState, Job, JobState

SHOWN_ATTEMPTS = 12
_PLACE = 987654321


@dataclass(frozen=True)
class Part:
    """One part of the progress bar."""

    look: Look
    n: int
    percent: float


@dataclass(frozen=True)
class Progress:
    """Over all tracks of the submission."""

    n_total: int
    n_done: int
    n_queued: int
    n_running: int
    n_passed: int
    counts: list[Part]
    stages: list[tuple[str, int]]
    running: list[Attempt]
    n_ahead: int | None
    """Jobs before this submission's first queued one; None when none is queued."""
    elapsed_seconds: float
    is_live: bool
    waits_for_rerun: bool = field(default=False)


def progress_of(submission: Submission) -> Progress:
    """Five queries, whatever the submission's size."""
    rows = list(
        Evaluation.objects.filter(submission=submission).order_by().values_list("state", "current_result__verdict")
        .annotate(Count("pk"))
    )  # fmt: skip
    by_state = {state: sum(n for s, _, n in rows if s == state) for state in EvaluationState.values}
    total = sum(by_state.values())
    running = list(
        Attempt.objects.filter(job__evaluation__submission=submission, state=AttemptState.LEASED)
        .select_related("node", "job__evaluation")
        .order_by("leased_at")[:SHOWN_ATTEMPTS]
    )
    open_work = by_state[EvaluationState.QUEUED] + by_state[EvaluationState.LEASED]
    ended = submission.finished_at if submission.state != SubmissionState.ACCEPTED else None
    return Progress(
        n_total=total,
        n_done=total - open_work,
        n_queued=by_state[EvaluationState.QUEUED],
        n_running=by_state[EvaluationState.LEASED],
        n_passed=sum(n for _, verdict, n in rows if verdict == "passed"),
        counts=_counts(rows, total),
        stages=_stages(submission),
        running=running,
        n_ahead=_ahead(submission) if by_state[EvaluationState.QUEUED] else None,
        elapsed_seconds=((ended or timezone.now()) - submission.created_at).total_seconds(),
        is_live=open_work > 0,
        waits_for_rerun=open_work > 0 and submission.state == SubmissionState.DONE,
    )


def _counts(rows: Sequence[tuple[str, str | None, int]], total: int) -> list[Part]:
    """Open work counts as its state, the rest as its verdict; in the order of the verdicts."""
    found: dict[str, int] = {}
    for state, verdict, n in rows:
        key = verdict if verdict and state == EvaluationState.DONE else state
        found[key] = found.get(key, 0) + n
    looks = {**VERDICTS, **{name: STATES[name] for name in ("leased", "queued", "cancelled")}}
    return [Part(look, found[key], 100 * found[key] / total) for key, look in looks.items() if found.get(key)]


def _stages(submission: Submission) -> list[tuple[str, int]]:
    leased = Attempt.objects.filter(job__evaluation__submission=submission, state=AttemptState.LEASED)
    return list(leased.order_by().values_list("work_stage").annotate(Count("pk")))


def _ahead(submission: Submission) -> int | None:
    """Jobs of the same queue that a node would be given before this submission's first."""
    order = ("-priority", "fair_tag", "id")
    first = Job.objects.filter(evaluation__submission=submission, state=JobState.QUEUED).order_by(*order).first()
    if first is None:
        return None
    tie = Q(priority=first.priority, fair_tag=first.fair_tag, pk__lt=first.pk)
    before = Q(priority__gt=first.priority) | Q(priority=first.priority, fair_tag__lt=first.fair_tag) | tie
    return Job.objects.filter(before, track=first.track_id, stage=first.stage, state=JobState.QUEUED).count()


@dataclass(frozen=True)
class MatrixRow:
    problem: Problem
    cells: SafeString


def matrix(submission: Submission, track: Track, problems: Sequence[Problem]) -> list[MatrixRow]:
    """Problem × sample of verdict chips, each a link to its evaluation. One query."""
    ruled = Decision.objects.filter(flag=OuterRef("pk"), kind="flag_dismissed")
    flagged = Flag.objects.filter(result=OuterRef("current_result")).exclude(Exists(ruled))
    rows = (
        Evaluation.objects.filter(submission=submission, track=track, problem__in=[one.pk for one in problems])
        .annotate(flagged=Exists(flagged))
        .order_by("sample__index")
        .values_list("problem_id", "sample__index", "pk", "state", "current_result__verdict", "flagged")
    )
    address = reverse("evaluation", args=[_PLACE])
    cells: dict[int, list[Any]] = {}
    for problem_id, index, pk, state, verdict, is_flagged in rows:
        link = address.replace(str(_PLACE), str(pk))
        cells.setdefault(problem_id, []).append(_chip(link, index, state, verdict, is_flagged))
    return [MatrixRow(one, format_html_join("", "{}", ((c,) for c in cells.get(one.pk, [])))) for one in problems]


def _chip(link: str, index: int, state: str, verdict: str | None, flagged: bool) -> SafeString:
    look = look_of(state, verdict)
    words = f"sample {index + 1}: {look.label}"
    if verdict and state != EvaluationState.DONE:
        words += f", rerun {STATES[state].label}"
    if flagged:
        words += ", flagged"
    return format_html(
        '<a class="cell {}{}" href="{}" title="{}" aria-label="{}">{}</a>',
        look.tone, " flagged" if flagged else "", link, words, words, look.symbol,
    )  # fmt: skip
