"""The rights of readers: the one place where pages and API ask before they show anything (docs: "Who may see what")."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal

from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value, When

from leaderboard.models import (
    Clarification,
    Decision,
    Entrant,
    Evaluation,
    Flag,
    ProblemScore,
    ReleaseTrack,
    Standing,
    Submission,
    Trial,
)
from leaderboard.models.curation.decision import DecisionKind
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.models.entrants.team import SUBMITTING
from problems.models import Problem, Release, ReleaseState, results_are_open
from problems.sealing import sealed
from problems.spec.kinds import SITE_KINDS
from problems.spec.record import FileRole, ProblemFile, ProblemRecord
from problems.spec.solution import SourceFile
from runners.wire.protocol import BUILDING, Audience, FlagScope, Purpose, Verdict

LogView = Literal["full", "summary", "none"]


SEALED = "sealed"
"""Stands for the verdict on a sealed question."""
_VERDICT = "current_result__verdict"
OF_TESTS = (Verdict.TEST_FAILED, Verdict.WRONG_ANSWER)
"""Verdicts whose reasons say what failed first."""


class Relation(Enum):
    """A user's relation to a submission."""

    ORGANISER = "organiser"
    TEAM = "team"
    OTHER = "other"


def relation(user: Any, entrant: Entrant) -> Relation:
    """The user's relation to the entrant. Its owner belongs to its team, and so do a team's readers."""
    if is_organiser(user):
        return Relation.ORGANISER
    return Relation.TEAM if entrant.has_member(user) else Relation.OTHER


def is_organiser(user: Any) -> bool:
    return bool(getattr(user, "is_staff", False))


def may_see_board(user: Any, release: Release) -> bool:
    """Board, entrants and charts: of a public release, or of a private one if its results are public or it invites."""
    return release.is_open_to_all or Release.objects.visible_to(user).filter(pk=release.pk).exists()


def may_see_statements(user: Any, release: Release) -> bool:
    """Statements and visible files: of a public release, or of a private one whose licence lets the invited read."""
    return release.is_open_to_all or Release.objects.readable_by(user).filter(pk=release.pk).exists()


def may_see_statement(user: Any, problem: Problem) -> bool:
    """The same of one problem. One marked `do_not_release` is read by organisers alone."""
    return is_organiser(user) or (not problem.do_not_release and may_see_statements(user, problem.release))


@dataclass(frozen=True)
class ShownFiles:
    """A problem's files as one user may read them, in the record's order, and the paths of the rest."""

    shown: Sequence[ProblemFile]
    held_out_paths: Sequence[str]

    def of_role(self, role: FileRole) -> list[SourceFile]:
        return [one.file for one in self.shown if one.role == role]


def shown_files(user: Any, record: ProblemRecord) -> ShownFiles:
    """An organiser may read every file, everybody else those that are not held out."""
    everything = is_organiser(user)
    held_out = [one.file.path for one in record.files if one.is_held_out and not everything]
    return ShownFiles([one for one in record.files if everything or not one.is_held_out], held_out)


def may_see_reference(user: Any) -> bool:
    """The reference solution and known-bad ones are the organisers' alone."""
    return is_organiser(user)


def shown_explanation(user: Any, release: Release, record: ProblemRecord) -> str:
    """The explanation of a question's answer: an organiser's, and everybody's once the release tells its answers."""
    return record.after_closing if is_organiser(user) or _tells_answers(release) else ""


def _tells_answers(release: Release) -> bool:
    return release.has_closed and not release.questions_are_sealed


def seals_questions(user: Any, release: Release) -> bool:
    """Whether the user is told nothing now that rests on the release's questions."""
    return release.questions_are_sealed and not is_organiser(user)


def told_verdict(user: Any) -> Case | F:
    """The verdict of an evaluation as this user is told it, for queries over several releases."""
    return F(_VERDICT) if is_organiser(user) else _unless_sealed(sealed("problem__"))


def _unless_sealed(condition: Q) -> Case:
    return Case(When(condition & Q(current_result__isnull=False), then=Value(SEALED)), default=F(_VERDICT))


@dataclass(frozen=True)
class SubmissionView:
    """One user's rights on one submission, answered with at most two queries."""

    is_visible: bool
    results: bool
    """Verdicts, times and measurements."""
    reasons: bool
    """The reason why a sample failed, in the words of the result (they may quote the contestant's files)."""
    solution: bool
    replies: bool
    """Replies to questions. With its verdict a reply tells the answer, so others read it once the release is closed and
    tells verdicts."""
    build_log: bool
    run_log: LogView
    live_tail: bool
    """Whether the user may read a running build's output. The output of tests is never shown while they run."""
    may_change: bool
    audiences: frozenset[Audience]
    """The readers whose fields of a case it shows."""

    first_failure: bool = False
    """Which test or case failed first and what it said, as the release allows."""
    notes: bool = False
    """Organisers' notes on samples."""
    of_private_problems: bool = False
    """Also samples of problems marked `do_not_release`."""
    transcripts: bool = False
    """How the samples that it shows were generated: prompts, replies, turns and calls of tools."""
    seals_questions: bool = False
    """Whether nothing that rests on questions is told yet."""

    def seals(self, problem: Problem) -> bool:
        """Whether the outcome of the problem is not told yet."""
        return self.seals_questions and problem.kind in SITE_KINDS

    def hide(self, evaluation: Evaluation) -> Evaluation:
        """The same evaluation; where its outcome is not told, without its result and `is_sealed`. Not to be saved."""
        if self.seals(evaluation.problem) and evaluation.current_result_id is not None:
            evaluation.current_result, evaluation.is_sealed = None, True
        return evaluation

    def open_of(self, evaluations: QuerySet[Evaluation]) -> QuerySet[Evaluation]:
        """Those whose outcome is told."""
        return evaluations.exclude(problem__kind__in=SITE_KINDS) if self.seals_questions else evaluations

    def told(self, evaluations: QuerySet[Evaluation]) -> Any:
        """With `told`: the verdict as the user is told it, `SEALED` where it is kept back, None without a result."""
        of_questions = Q(problem__kind__in=SITE_KINDS)
        return evaluations.annotate(told=_unless_sealed(of_questions) if self.seals_questions else F(_VERDICT))

    def shows(self, problem: Problem) -> bool:
        """Whether the user may read the samples of the problem; with `transcripts` their prompts and whole records.

        Nobody but the team reads these without the right to the statement, which a prompt may quote.
        """
        if problem.do_not_release and not self.of_private_problems:
            return False
        return self.replies if problem.kind in SITE_KINDS else self.solution


_EVERYTHING = SubmissionView(
    is_visible=True, results=True, reasons=True, solution=True, replies=True, build_log=True, run_log="full",
    live_tail=True, may_change=True, audiences=frozenset(Audience), first_failure=True, notes=True,
    of_private_problems=True, transcripts=True,
)  # fmt: skip
_TEAMS = SubmissionView(
    is_visible=True, results=True, reasons=True, solution=True, replies=True, build_log=True, run_log="summary",
    live_tail=True, may_change=True, audiences=frozenset({Audience.PUBLIC, Audience.TEAM}), first_failure=True,
    of_private_problems=True, transcripts=True,
)  # fmt: skip
_TEAMS_VERDICTS_ONLY = replace(_TEAMS, first_failure=False, audiences=frozenset({Audience.PUBLIC}))
"""The team's view where the release forbids the first failure."""
_NOTHING = SubmissionView(
    is_visible=False, results=False, reasons=False, solution=False, replies=False, build_log=False, run_log="none",
    live_tail=False, may_change=False, audiences=frozenset(),
)  # fmt: skip


def view_of(user: Any, submission: Submission) -> SubmissionView:
    """All answers about one submission. A system entrant's exist for organisers alone."""
    entrant = submission.entrant
    if is_organiser(user):
        return _EVERYTHING
    if entrant.kind == EntrantKind.SYSTEM:
        return _NOTHING
    if role := entrant.role_of(user):
        teams = _TEAMS if submission.release.shows_first_failure else _TEAMS_VERDICTS_ONLY
        is_sealed = submission.release.questions_are_sealed
        return replace(teams, may_change=role in SUBMITTING, seals_questions=is_sealed)
    if submission.release.results_are_hidden or not may_see_board(user, submission.release):
        return _NOTHING
    published = entrant.publishes_code and may_see_statements(user, submission.release)
    return SubmissionView(
        is_visible=True, results=True, reasons=False, solution=published,
        replies=published and _tells_answers(submission.release), build_log=False, run_log="none", live_tail=False,
        may_change=False, audiences=frozenset({Audience.PUBLIC}),
        transcripts=published and submission.release.transcripts_are_public,
        seals_questions=submission.release.questions_are_sealed,
    )  # fmt: skip


def view_of_all(user: Any) -> SubmissionView | None:
    """The view that holds for every submission alike: an organiser's; None for everybody else."""
    return _EVERYTHING if is_organiser(user) else None


def may_see_live_tail(user: Any, submission: Submission, stage: str) -> bool:
    """The last lines of running work: an organiser's always, the team's while it builds."""
    if is_organiser(user):
        return True
    return stage == BUILDING and view_of(user, submission).live_tail


def may_see_trial_tail(user: Any, stage: str) -> bool:
    """The last lines of a running trial, as far as a submission's: to its user a trial is what one is to its team."""
    return stage == BUILDING or is_organiser(user)


def trial_audiences(user: Any) -> frozenset[Audience]:
    """The audiences of the facts that this user reads in a trial; its user reads what a team reads of a result."""
    return (_EVERYTHING if is_organiser(user) else _TEAMS).audiences


def visible_trials(user: Any) -> QuerySet[Trial]:
    """A trial is its user's own; organisers see all."""
    if is_organiser(user):
        return Trial.objects.all()
    return Trial.objects.filter(user=user) if user.is_authenticated else Trial.objects.none()


def visible_evaluations(user: Any) -> QuerySet[Evaluation]:
    """Evaluations of the submissions that the user may see: an organiser all, everybody else those that count."""
    return Evaluation.objects.all() if is_organiser(user) else Evaluation.objects.live()


def why_unreadable(evaluation: Evaluation, view: SubmissionView) -> str:
    """Returns the reason why the user may not read the evaluation's sample, in words; empty if the user may."""
    if not evaluation.sample.solution_sha256:
        return "The sample has no code: it was refused when it was sent."
    if view.shows(evaluation.problem):
        return ""
    if evaluation.problem.kind in SITE_KINDS:
        return "Replies to questions are shown to others once the release is closed and tells their verdicts."
    who = f"{evaluation.submission.entrant.name} does not publish its solutions, or the problem is private"
    return f"{who}. Its team and organisers may read this one with a token of their own."


def may_change(user: Any, submission: Submission) -> bool:
    """Whether the user may cancel the submission or rerun parts of it: those who may submit and organisers may."""
    return is_organiser(user) or submission.entrant.has_submitter(user)


def shown_reason(view: SubmissionView, verdict: str, reason: str) -> str:
    """The result's reason as this user may read it: why a problem is skipped is public, the rest the team's.

    The reason of a failed test says what failed first, which a release may forbid.
    """
    if verdict in OF_TESTS and not view.first_failure:
        return ""
    return reason if view.reasons or verdict == Verdict.SKIPPED else ""


def _own(user: Any) -> QuerySet[Entrant]:
    return Entrant.objects.readable_by(user)


def visible_standings(user: Any, release: Release) -> QuerySet[Standing]:
    """The board's rows: all, or the user's own while results are hidden. The caller has found the release visible."""
    rows = Standing.objects.filter(release=release).exclude(entrant__kind=EntrantKind.SYSTEM)
    if is_organiser(user) or not release.results_are_hidden:
        return rows
    return rows.filter(entrant__in=_own(user))


def visible_board_submissions(user: Any, release: Release) -> QuerySet[Submission]:
    """The submissions whose rows of a board, of any day, the user may see, under the same rule."""
    rows = Submission.objects.filter(release=release).exclude(entrant__kind=EntrantKind.SYSTEM)
    if is_organiser(user) or not release.results_are_hidden:
        return rows
    return rows.filter(entrant__in=_own(user))


def with_visible_results(user: Any, releases: QuerySet[Release]) -> QuerySet[Release]:
    """Those of the releases on whose boards the user sees a row. The caller has left out what the user may not see."""
    rows = Standing.objects.filter(release=OuterRef("pk")).exclude(entrant__kind=EntrantKind.SYSTEM)
    if is_organiser(user):
        return releases.filter(Exists(rows))
    return releases.filter((results_are_open() & Exists(rows)) | Exists(rows.filter(entrant__in=_own(user))))


def places_with_visible_results(user: Any) -> QuerySet[ReleaseTrack]:
    """The boards, without drafts, on which the user sees an entrant's row, with `n_entrants`: the number of such rows.

    Baselines are not counted.
    """
    rows = Standing.objects.filter(release=OuterRef("release"), track=OuterRef("track")).order_by()
    rows = rows.exclude(entrant__kind__in=[EntrantKind.SYSTEM, EntrantKind.BASELINE])
    if not is_organiser(user):
        rows = rows.filter(results_are_open("release__") | Q(entrant__in=_own(user)))
    n_entrants = Subquery(rows.values("release").annotate(n=Count("pk")).values("n"))
    published = Release.objects.visible_to(user).exclude(state=ReleaseState.DRAFT)
    places = ReleaseTrack.objects.filter(release__in=published).annotate(n_entrants=n_entrants)
    return places.filter(n_entrants__gt=0).select_related("release", "track")


def visible_standings_of_all(user: Any) -> QuerySet[Standing]:
    """The rows of every board that the user may see, under the same rule."""
    rows = Standing.objects.filter(release__in=Release.objects.visible_to(user))
    if is_organiser(user):
        return rows
    return rows.filter(results_are_open("release__") | Q(entrant__in=_own(user)))


def visible_standings_of(user: Any, entrant: Entrant) -> QuerySet[Standing]:
    """One entrant's rows on every board that the user may see, under the same rule."""
    rows = Standing.objects.filter(entrant=entrant, release__in=Release.objects.visible_to(user))
    if relation(user, entrant) is not Relation.OTHER:
        return rows
    return rows.filter(results_are_open("release__"))


def visible_scores(user: Any, release: Release) -> QuerySet[ProblemScore]:
    """Per-problem aggregates under the same rule; those of cancelled and retracted submissions are left out.

    Of questions that are or were sealed only those of replies that count, once they are told.
    """
    rows = (
        ProblemScore.objects.filter(submission__release=release)
        .exclude(submission__entrant__kind=EntrantKind.SYSTEM)
        .exclude(submission__state="cancelled")
        .exclude(submission__decisions__kind="submission_retracted")
    )
    if seals_questions(user, release):
        rows = rows.exclude(problem__kind__in=SITE_KINDS)
    elif release.has_sealed_questions:
        rows = rows.exclude(problem__kind__in=SITE_KINDS, submission__asks_to_count=False)
    if is_organiser(user) or not release.results_are_hidden:
        return rows
    return rows.filter(submission__entrant__in=_own(user))


def told_scores(user: Any, scores: QuerySet[ProblemScore]) -> QuerySet[ProblemScore]:
    """Without those of sealed questions."""
    return scores if is_organiser(user) else scores.exclude(sealed("problem__"))


def scores_with_readable_code(user: Any, problem: Problem) -> QuerySet[ProblemScore]:
    """Those visible scores of the problem whose samples `view_of` would show the user."""
    release = problem.release
    rows = visible_scores(user, release).filter(problem=problem)
    if is_organiser(user):
        return rows
    readable = Q(submission__entrant__in=_own(user)) if user.is_authenticated else Q(pk__in=[])
    if may_see_statement(user, problem) and (problem.kind not in SITE_KINDS or _tells_answers(release)):
        readable |= Q(submission__entrant__publishes_code=True)
    return rows.filter(readable)


def _of_counting() -> Q:
    """Flags of live current results, and those of the time of second measurements, as scores read them."""
    second = Exists(Evaluation.objects.filter(second_result=OuterRef("result_id")))
    return Q(result__current_of__purpose=Purpose.LIVE) | Q(second, scope=FlagScope.TIME)


def visible_flags(user: Any, release: Release) -> QuerySet[Flag]:
    """Flags of current results that count, under the same rule as scores. The caller has found the release visible."""
    of_submission = "result__evaluation__submission"
    rows = (
        Flag.objects.filter(_of_counting(), **{f"{of_submission}__release": release})
        .exclude(**{f"{of_submission}__entrant__kind": EntrantKind.SYSTEM})
        .exclude(**{f"{of_submission}__state": "cancelled"})
        .exclude(**{f"{of_submission}__decisions__kind": DecisionKind.SUBMISSION_RETRACTED})
    )
    if is_organiser(user) or not release.results_are_hidden:
        return rows
    return rows.filter(**{f"{of_submission}__entrant__in": _own(user)})


def visible_decisions(user: Any, release: Release) -> QuerySet[Decision]:
    """The release's public log: errata for all; while results are hidden, rulings and retractions of own entrants only.

    The caller has found the release visible.
    """
    flagged = "flag__result__evaluation__submission"
    of_entrants = Q(**{f"{flagged}__release": release}) & ~Q(**{f"{flagged}__entrant__kind": EntrantKind.SYSTEM})
    retractions = Q(submission__release=release) & ~Q(submission__entrant__kind=EntrantKind.SYSTEM)
    if not is_organiser(user) and release.results_are_hidden:
        of_entrants &= Q(**{f"{flagged}__entrant__in": _own(user)})
        retractions &= Q(submission__entrant__in=_own(user))
    return Decision.objects.filter(Q(problem__release=release) | of_entrants | retractions)


def visible_retractions(user: Any, release: Release) -> QuerySet[Decision]:
    """The retractions of the release's public log, by the same rule."""
    rows = Decision.objects.filter(kind=DecisionKind.SUBMISSION_RETRACTED, submission__release=release)
    rows = rows.exclude(submission__entrant__kind=EntrantKind.SYSTEM)
    if is_organiser(user) or not release.results_are_hidden:
        return rows
    return rows.filter(submission__entrant__in=_own(user))


def visible_clarifications(user: Any, release: Release) -> QuerySet[Clarification]:
    """An organiser's: all; everybody else's: own ones, and public answers about problems that the user may read."""
    rows = Clarification.objects.filter(problem__release=release)
    if is_organiser(user):
        return rows
    own = Q(asked_by=user) if user.is_authenticated else Q(pk__in=[])
    if not may_see_statements(user, release):
        return rows.filter(own)
    return rows.filter(own | Q(is_public=True, problem__do_not_release=False))


def visible_entrants(user: Any) -> QuerySet[Entrant]:
    """Every entrant but the system's, which only organisers see."""
    return Entrant.objects.all() if is_organiser(user) else Entrant.objects.public()


def visible_submissions(user: Any, release: Release | None = None) -> QuerySet[Submission]:
    """Submissions for a list: visible ones; verifying submissions are left out for everybody."""
    rows = Submission.objects.visible_to(user).filter(~Q(entrant__kind=EntrantKind.SYSTEM))
    return rows if release is None else rows.filter(release=release)
