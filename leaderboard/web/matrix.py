"""A submission's matrix: problem × sample of verdict chips."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from leaderboard.models import Decision, Evaluation, EvaluationState, Flag, Submission, Track
from leaderboard.standings.absent import AbsentSamples, absent_samples
from leaderboard.web.verdicts import STATES, VERDICTS, look_of
from problems.models import Problem

_PLACE = 987654321
"""Stands for an evaluation's number in the address that is worked out once."""


@dataclass(frozen=True)
class MatrixRow:
    problem: Problem
    cells: SafeString


def matrix(submission: Submission, track: Track, problems: Sequence[Problem]) -> list[MatrixRow]:
    """Problem × sample of verdict chips, each a link to its evaluation; absent samples have none. Four queries."""
    ruled = Decision.objects.filter(flag=OuterRef("pk"), kind="flag_dismissed")
    flagged = Flag.objects.filter(result=OuterRef("current_result")).exclude(Exists(ruled))
    rows = (
        Evaluation.objects.live()
        .filter(submission=submission, track=track, problem__in=[one.pk for one in problems])
        .annotate(flagged=Exists(flagged))
        .order_by("sample__index")
        .values_list("problem_id", "sample__index", "pk", "state", "current_result__verdict", "flagged")
    )
    address = reverse("evaluation", args=[_PLACE])
    cells: dict[int, list[Any]] = {}
    for problem_id, index, pk, state, verdict, is_flagged in rows:
        link = address.replace(str(_PLACE), str(pk))
        cells.setdefault(problem_id, []).append(_chip(link, index, state, verdict, is_flagged))
    for one in absent_samples(submission, [track], [problem.pk for problem in problems]):
        cells.setdefault(one.problem_id, []).extend(_absent_chip(one, one.first_index + n) for n in range(one.n))
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


def _absent_chip(absent: AbsentSamples, index: int) -> SafeString:
    look = VERDICTS[absent.verdict]
    words = f"sample {index + 1}: {look.label} (missing)"
    return format_html(
        '<span class="cell {}" role="img" title="{}" aria-label="{}">{}</span>', look.tone, words, words, look.symbol
    )
