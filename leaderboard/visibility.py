"""Who may see what: the one place where pages and API ask before they show anything (docs: "Who may see what")."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from django.db.models import Q, QuerySet
from django.utils import timezone

from leaderboard.models import Entrant, ProblemScore, Standing, Submission
from leaderboard.models.entrant import EntrantKind
from problems.models import Problem, Release
from runners.protocol import Verdict, WorkStage

LogView = Literal["full", "summary", "none"]


class Relation(Enum):
    """What a user is to a submission."""

    ORGANISER = "organiser"
    TEAM = "team"
    OTHER = "other"


def relation(user: Any, entrant: Entrant) -> Relation:
    """An organiser, of the entrant's team (its owner is), or neither."""
    if is_organiser(user):
        return Relation.ORGANISER
    return Relation.TEAM if entrant.has_member(user) else Relation.OTHER


def is_organiser(user: Any) -> bool:
    return bool(getattr(user, "is_staff", False))


def may_see_statement(user: Any, release: Release) -> bool:
    """Statements and visible files of a public release, or of a private one for the invited; drafts for organisers."""
    return Release.objects.visible_to(user).filter(pk=release.pk).exists()


def visible_test_paths(user: Any, problem: Problem) -> frozenset[str]:
    """Test files that the user may read: an organiser all, everybody else those that the problem shows."""
    spec = problem.spec
    every = frozenset(file.path for file in spec.test_files)
    return every if is_organiser(user) else every & frozenset(spec.podium.visible_tests)


def may_see_reference(user: Any) -> bool:
    """The reference solution and known-bad ones are the organisers' alone."""
    return is_organiser(user)


@dataclass(frozen=True)
class SubmissionView:
    """What one user may see and do of one submission, answered with at most two queries."""

    is_visible: bool
    results: bool
    """Verdicts, times and measurements."""
    reasons: bool
    """Why a sample failed, in the words of the result (they may quote the contestant's files)."""
    solution: bool
    build_log: bool
    run_log: LogView
    live_tail: bool
    """What is being built prints, while it is being built; never what a test prints."""
    may_change: bool


_EVERYTHING = SubmissionView(
    is_visible=True, results=True, reasons=True, solution=True, build_log=True, run_log="full", live_tail=True,
    may_change=True,
)  # fmt: skip
_TEAMS = SubmissionView(
    is_visible=True, results=True, reasons=True, solution=True, build_log=True, run_log="summary", live_tail=True,
    may_change=True,
)  # fmt: skip
_NOTHING = SubmissionView(
    is_visible=False, results=False, reasons=False, solution=False, build_log=False, run_log="none", live_tail=False,
    may_change=False,
)  # fmt: skip


def view_of(user: Any, submission: Submission) -> SubmissionView:
    """All answers about one submission. A system entrant's exist for organisers alone."""
    entrant = submission.entrant
    known_as = relation(user, entrant)
    if known_as is Relation.ORGANISER:
        return _EVERYTHING
    if entrant.kind == EntrantKind.SYSTEM:
        return _NOTHING
    if known_as is Relation.TEAM:
        return _TEAMS
    if submission.release.results_are_hidden or not may_see_statement(user, submission.release):
        return _NOTHING
    return SubmissionView(
        is_visible=True, results=True, reasons=False, solution=entrant.publishes_code, build_log=False, run_log="none",
        live_tail=False, may_change=False,
    )  # fmt: skip


def results_visible(user: Any, submission: Submission) -> bool:
    """Verdicts, times and measurements: everybody's once they are not hidden, the team's own always."""
    return view_of(user, submission).results


def may_see_solution(user: Any, submission: Submission) -> bool:
    """Solution code: the team's, an organiser's, and everybody's when the entrant publishes it."""
    return view_of(user, submission).solution


def may_see_build_log(user: Any, submission: Submission) -> bool:
    return view_of(user, submission).build_log


def may_see_run_log(user: Any, submission: Submission) -> LogView:
    """Test and benchmark logs: `full` for an organiser, `summary` (how each step ended, first failure) for the team."""
    return view_of(user, submission).run_log


def may_see_live_tail(user: Any, submission: Submission, stage: str) -> bool:
    """The last lines of running work: an organiser's always, the team's while it builds."""
    if is_organiser(user):
        return True
    return stage == WorkStage.BUILDING and view_of(user, submission).live_tail


def shown_reason(view: SubmissionView, verdict: str, reason: str) -> str:
    """The result's reason as this user may read it: why a problem is skipped is public, the rest the team's."""
    return reason if view.reasons or verdict == Verdict.SKIPPED else ""


def _own(user: Any) -> QuerySet[Entrant]:
    return Entrant.objects.submittable_by(user)


def visible_standings(user: Any, release: Release) -> QuerySet[Standing]:
    """The board's rows: all, or the user's own while results are hidden. The caller has found the release visible."""
    rows = Standing.objects.filter(release=release).exclude(entrant__kind=EntrantKind.SYSTEM)
    if is_organiser(user) or not release.results_are_hidden:
        return rows
    return rows.filter(entrant__in=_own(user))


def visible_standings_of(user: Any, entrant: Entrant) -> QuerySet[Standing]:
    """One entrant's rows on every board that the user may see, under the same rule."""
    rows = Standing.objects.filter(entrant=entrant, release__in=Release.objects.visible_to(user))
    if relation(user, entrant) is not Relation.OTHER:
        return rows
    return rows.filter(Q(release__hidden_until=None) | Q(release__hidden_until__lte=timezone.now()))


def visible_scores(user: Any, release: Release) -> QuerySet[ProblemScore]:
    """Per-problem aggregates under the same rule; those of cancelled and retracted submissions are left out."""
    rows = (
        ProblemScore.objects.filter(submission__release=release)
        .exclude(submission__entrant__kind=EntrantKind.SYSTEM)
        .exclude(submission__state="cancelled")
        .exclude(submission__decisions__kind="submission_retracted")
    )
    if is_organiser(user) or not release.results_are_hidden:
        return rows
    return rows.filter(submission__entrant__in=_own(user))


def visible_entrants(user: Any) -> QuerySet[Entrant]:
    """Every entrant but the system's, which only organisers see."""
    return Entrant.objects.all() if is_organiser(user) else Entrant.objects.public()


def visible_submissions(user: Any, release: Release | None = None) -> QuerySet[Submission]:
    """Submissions for a list: visible ones; verifying submissions are left out for everybody."""
    rows = Submission.objects.visible_to(user).filter(~Q(entrant__kind=EntrantKind.SYSTEM))
    return rows if release is None else rows.filter(release=release)
