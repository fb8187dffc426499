"""A submission's matrix: problem × sample of verdict chips."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.models import Decision, Evaluation, EvaluationState, Flag, ProblemScore, Submission, Track
from leaderboard.models.curation.decision import DecisionKind
from leaderboard.standings.absent import AbsentSamples, absent_samples
from leaderboard.visibility import SubmissionView
from leaderboard.web.problems.problem_ranking import FIELDS, counted_figure
from leaderboard.web.results.verdicts import STATES, VERDICTS, look_of
from problems.models import Problem
from runners.wire.protocol import FlagScope, Verdict

_FLAG_WORDS: Mapping[tuple[str, str | None], str] = {
    (FlagScope.VERDICT, DecisionKind.FLAG_UPHELD): "flag upheld: it does not count",
    (FlagScope.VERDICT, None): "flagged: it does not count until a decision",
    (FlagScope.TIME, DecisionKind.FLAG_UPHELD): "flag upheld: its time does not rank",
    (FlagScope.TIME, None): "flagged: its time does not rank until a decision",
}
"""Words of flags by scope and latest ruling; the strongest effect first."""
_PLACE = 987654321
"""Stands for an evaluation's number in the address that is worked out once."""


@dataclass(frozen=True)
class MatrixRow:
    """A problem's chips, and the time and the speedup of its sample that counts most, where it has them."""

    problem: Problem
    cells: SafeString
    n_samples: int
    """Those that there are; absent ones have nothing to read."""
    time_ms: float | None = None
    speedup: float | None = None
    evaluation_id: int | None = None
    """The evaluation of that sample."""


def matrix(submission: Submission, track: Track, problems: Sequence[Problem], view: SubmissionView) -> list[MatrixRow]:
    """Problem × sample of verdict chips, each a link to its evaluation; absent samples have none. Six queries."""
    rows = (
        Evaluation.objects.live()
        .filter(submission=submission, track=track, problem__in=[one.pk for one in problems])
        .order_by("sample__index")
    )
    columns = ("problem_id", "sample__index", "pk", "state", "told", "current_result_id")
    flags = _flags(rows)
    address = reverse("evaluation", args=[_PLACE])
    cells: dict[int, list[str]] = {}
    for problem_id, index, pk, state, verdict, result_id in view.told(rows).values_list(*columns):
        chip = _chip(address, index, state, verdict, _flag_words(verdict, flags.get(result_id, set())))
        cells.setdefault(problem_id, []).append(chip.replace(str(_PLACE), str(pk)))
    present = {pk: len(chips) for pk, chips in cells.items()}
    for one in absent_samples(submission, [track], [problem.pk for problem in problems]):
        cells.setdefault(one.problem_id, []).extend(_absent_chip(one, one.first_index + n) for n in range(one.n))
    best = _best(submission, track, [one for one in problems if not view.seals(one)])
    return [
        MatrixRow(one, SafeString("".join(cells.get(one.pk, []))), present.get(one.pk, 0), *best.get(one.pk, ()))
        for one in problems
    ]


def _best(submission: Submission, track: Track, problems: Sequence[Problem]) -> dict[int, tuple[Any, ...]]:
    """Time in ms, speedup and evaluation of each problem's best sample, by the figure that scores count. One query."""
    _, sample, time_ms, speedup = FIELDS[counted_figure(submission.release)]
    scores = ProblemScore.objects.filter(submission=submission, track=track, problem__in=[one.pk for one in problems])
    return {pk: tuple(best) for pk, *best in scores.values_list("problem_id", time_ms, speedup, f"{sample}_id")}


def _flags(evaluations: QuerySet[Evaluation]) -> dict[int, set[tuple[str, str | None]]]:
    """Scope and latest ruling of the flags of each flagged result id. One query."""
    latest = Decision.objects.filter(flag=OuterRef("pk")).order_by("-id").values("kind")[:1]
    rows = Flag.objects.filter(result__current_of__in=evaluations.order_by()).annotate(ruling=Subquery(latest))
    found: dict[int, set[tuple[str, str | None]]] = {}
    for result_id, scope, ruling in rows.order_by().values_list("result_id", "scope", "ruling"):
        found.setdefault(result_id, set()).add((scope, ruling))
    return found


def _flag_words(verdict: str | None, flags: Collection[tuple[str, str | None]]) -> str:
    """The effect of a pass's flags, in words; "" without any."""
    if verdict != Verdict.PASSED:
        return ""
    return next((words for flag, words in _FLAG_WORDS.items() if flag in flags), "")


@lru_cache(4096)
def _chip(link: str, index: int, state: str, verdict: str | None, flag_words: str) -> SafeString:
    """Kept, because a page has a thousand that differ in their link alone."""
    look = look_of(state, verdict)
    words = f"sample {index + 1}: {look.label}"
    if verdict and state != EvaluationState.DONE:
        words += f", rerun {STATES[state].label}"
    if flag_words:
        words += f", {flag_words}"
    return format_html(
        '<a class="cell {}{}" href="{}" title="{}" aria-label="{}">{}</a>',
        look.tone, " flagged" if flag_words else "", link, words, words, look.symbol,
    )  # fmt: skip


def _absent_chip(absent: AbsentSamples, index: int) -> SafeString:
    look = VERDICTS[absent.verdict]
    words = f"sample {index + 1}: {look.label} (missing)"
    return format_html(
        '<span class="cell {}" role="img" title="{}" aria-label="{}">{}</span>', look.tone, words, words, look.symbol
    )
