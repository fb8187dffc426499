"""Submissions and evaluations in the admin."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from leaderboard.actions.curation.decide import retract
from leaderboard.actions.submissions.cancel import cancel
from leaderboard.actions.submissions.rerun import can_run_again, rerun, why_not_here
from leaderboard.admin.base import Act, Outcome, ReadOnlyAdmin, ReasonForm, admin_link, each_row
from leaderboard.admin.curation import effects
from leaderboard.admin.dashboard import stuck
from leaderboard.models import Entrant, Evaluation, Submission, SubmissionState
from problems.models import Problem
from problems.spec.numbered import numbered

ID_DIGITS = 19
"""Numbers of fewer digits fit into a row's id."""
SEARCHED = 500
"""The most problems or submissions whose evaluations a search shows."""


def _cancel(request: HttpRequest, submission: Submission, said: dict[str, Any]) -> Outcome:
    return [f"{numbered(cancel(request.user, submission, said['reason']), 'evaluation')} withdrawn."]


def _retract(request: HttpRequest, submission: Submission, said: dict[str, Any]) -> Outcome:
    retract(request.user, submission, said["reason"])
    return [f"{submission} is off the boards; its results stay readable."]


def _rerun_whole(request: HttpRequest, submission: Submission, reason: str) -> str:
    evaluations = submission.evaluations.live().select_related("submission__entrant", "current_result")
    return f"{numbered(rerun(request.user, list(evaluations), reason), 'evaluation')} queued again."


def _rerun_all(request: HttpRequest, submission: Submission, said: dict[str, Any]) -> Outcome:
    return [_rerun_whole(request, submission, said["reason"])]


def _cancel_each(request: HttpRequest, submissions: list[Submission], said: dict[str, Any]) -> Outcome:
    def one(submission: Submission) -> str:
        n = cancel(request.user, submission, said["reason"])
        return f"{submission}: {numbered(n, 'evaluation')} withdrawn."

    return each_row(submissions, one)


def _retract_each(request: HttpRequest, submissions: list[Submission], said: dict[str, Any]) -> Outcome:
    def one(submission: Submission) -> str:
        retract(request.user, submission, said["reason"])
        return f"{submission} is off the boards; its results stay readable."

    return each_row(submissions, one)


def _rerun_each(request: HttpRequest, submissions: list[Submission], said: dict[str, Any]) -> Outcome:
    return each_row(submissions, lambda one: f"{one}: {_rerun_whole(request, one, said['reason'])}")


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    list_display = (
        "number", "entrant_link", "release_link", "name", "state", "is_full", "submitted_through", "created_at", "page",
    )  # fmt: skip
    list_filter = ("state", "is_full", "submitted_through", "release")
    search_fields = ("name", "entrant__name", "digest")
    search_help_text = "By the pack's name, the entrant, the content's digest, or #number."
    list_select_related = ("entrant", "release")
    bulk_acts = (
        Act("rerun", "Rerun", "Every finished evaluation of these submissions is queued again.", _rerun_each,
            form=lambda _rows: ReasonForm, effect=effects.of_rerunning_all),
        Act("cancel", "Cancel", "What is queued is withdrawn, what is running stops, what is done stays.", _cancel_each,
            form=lambda _rows: ReasonForm, effect=effects.of_cancelling_all),
        Act("retract", "Retract", "These submissions stop counting on every board, with a public note.", _retract_each,
            form=lambda _rows: ReasonForm, effect=effects.of_retracting_all),
    )  # fmt: skip
    acts = (
        Act(
            "cancel", "Cancel", "What is queued is withdrawn, what is running stops, what is done stays.", _cancel,
            form=lambda _row: ReasonForm, offered=lambda one: one.state == SubmissionState.ACCEPTED,
            effect=effects.of_cancelling,
        ),
        Act(
            "rerun", "Rerun", "Every finished evaluation is queued again; old results stay current until then.",
            _rerun_all, form=lambda _row: ReasonForm, effect=effects.of_rerunning,
            offered=lambda one: one.state != SubmissionState.CANCELLED and not why_not_here(one),
        ),
        Act(
            "retract", "Retract", "It stops counting on every board, with a public note.", _retract,
            form=lambda _row: ReasonForm, offered=lambda one: one.state != SubmissionState.CANCELLED,
            effect=effects.of_retracting,
        ),
    )  # fmt: skip

    @admin.display(description="submission", ordering="id")
    def number(self, submission: Submission) -> str:
        return f"#{submission.pk}"

    @admin.display(description="entrant", ordering="entrant__name")
    def entrant_link(self, submission: Submission) -> str:
        return admin_link(submission.entrant)

    @admin.display(description="release", ordering="release__slug")
    def release_link(self, submission: Submission) -> str:
        return admin_link(submission.release)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Submission], search_term: str
    ) -> tuple[QuerySet[Submission], bool]:
        """A number finds the submission of this number."""
        if (number := search_term.strip().removeprefix("#")).isdecimal() and len(number) < ID_DIGITS:
            return queryset.filter(pk=int(number)), False
        return super().get_search_results(request, queryset, search_term)


def _rerun_one(request: HttpRequest, evaluation: Evaluation, said: dict[str, Any]) -> Outcome:
    rerun(request.user, [evaluation], said["reason"])
    return [f"{evaluation} is queued again."]


def _rerun_these(request: HttpRequest, evaluations: list[Evaluation], said: dict[str, Any]) -> Outcome:
    n = rerun(request.user, evaluations, said["reason"])
    return [f"{n} of {numbered(len(evaluations), 'evaluation')} queued again."]


class StuckFilter(admin.SimpleListFilter):
    title = "waits"
    parameter_name = "stuck"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Too long")]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Evaluation]) -> QuerySet[Evaluation]:
        return stuck(queryset) if self.value() == "yes" else queryset


@admin.register(Evaluation)
class EvaluationAdmin(ReadOnlyAdmin):
    list_display = (
        "number", "submission_link", "entrant_link", "problem_link", "track", "state", "verdict", "queued_at", "page",
    )  # fmt: skip
    list_filter = ("state", StuckFilter, "track", "current_result__verdict", "purpose")
    search_fields = ("id",)
    search_help_text = "By an entrant's name, a problem's task_id, a number, or a submission's #number."
    bulk_acts = (
        Act("rerun", "Rerun", "The old results stay current until the new ones land.", _rerun_these,
            form=lambda _rows: ReasonForm, effect=effects.of_rerunning_these),
    )  # fmt: skip
    list_select_related = (
        "submission__entrant",
        "submission__release",
        "problem",
        "track",
        "current_result__evaluation",
    )
    acts = (
        Act(
            "rerun", "Rerun", "The old result stays current until the new one lands.", _rerun_one,
            form=lambda _row: ReasonForm,
            offered=lambda one: can_run_again(one) and not why_not_here(one.submission),
            effect=effects.of_rerunning_one,
        ),
    )  # fmt: skip

    @admin.display(description="evaluation", ordering="id")
    def number(self, evaluation: Evaluation) -> str:
        return str(evaluation.pk)

    @admin.display(description="submission", ordering="submission")
    def submission_link(self, evaluation: Evaluation) -> str:
        return admin_link(evaluation.submission, f"#{evaluation.submission_id} on {evaluation.submission.release}")

    @admin.display(description="entrant")
    def entrant_link(self, evaluation: Evaluation) -> str:
        return admin_link(evaluation.submission.entrant)

    @admin.display(description="problem")
    def problem_link(self, evaluation: Evaluation) -> str:
        return admin_link(evaluation.problem)

    @admin.display(description="verdict")
    def verdict(self, evaluation: Evaluation) -> str:
        result = evaluation.current_result
        return admin_link(result, result.get_verdict_display() if result else "")

    def get_search_results(
        self, _request: HttpRequest, queryset: QuerySet[Evaluation], search_term: str
    ) -> tuple[QuerySet[Evaluation], bool]:
        """Searches indexed columns alone: searching text in millions of rows would take too long."""
        words = search_term.strip()
        if not words:
            return queryset, False
        if words.startswith("#") and words[1:].isdecimal() and len(words) <= ID_DIGITS:
            return queryset.filter(submission=int(words[1:])), False
        if words.isdecimal() and len(words) < ID_DIGITS:
            return queryset.filter(pk=int(words)), False
        problems = list(Problem.objects.filter(task_id__icontains=words).values_list("pk", flat=True)[:SEARCHED])
        entrants = Entrant.objects.filter(name__icontains=words).values("pk")[:SEARCHED]
        submissions = list(Submission.objects.filter(entrant__in=entrants).values_list("pk", flat=True)[:SEARCHED])
        return queryset.filter(Q(problem__in=problems) | Q(submission__in=submissions)), False
