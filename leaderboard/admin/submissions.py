"""Submissions, evaluations and the queue of flags in the admin."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from leaderboard.actions.cancel import cancel
from leaderboard.actions.decide import decide_flag, retract
from leaderboard.actions.rerun import rerun
from leaderboard.admin.base import Act, Outcome, ReadOnlyAdmin, ReasonForm
from leaderboard.models import Evaluation, EvaluationState, Flag, Submission, SubmissionState


def _cancel(request: HttpRequest, submission: Submission, said: dict[str, Any]) -> Outcome:
    return [f"{cancel(request.user, submission, said['reason'])} evaluations withdrawn."]


def _retract(request: HttpRequest, submission: Submission, said: dict[str, Any]) -> Outcome:
    retract(request.user, submission, said["reason"])
    return [f"{submission} is off the boards; its results stay readable."]


def _rerun_all(request: HttpRequest, submission: Submission, said: dict[str, Any]) -> Outcome:
    evaluations = submission.evaluations.live().select_related("submission__entrant", "current_result")
    return [f"{rerun(request.user, list(evaluations), said['reason'])} evaluations queued again."]


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    list_display = ("id", "entrant", "release", "name", "state", "is_full", "submitted_through", "created_at")
    list_filter = ("state", "is_full", "release")
    search_fields = ("name", "entrant__name", "digest")
    list_select_related = ("entrant", "release")
    acts = (
        Act(
            "cancel", "Cancel", "What is queued is withdrawn, what is running stops, what is done stays.", _cancel,
            form=lambda _row: ReasonForm, offered=lambda one: one.state == SubmissionState.ACCEPTED,
        ),
        Act(
            "rerun", "Rerun", "Every finished evaluation is queued again; old results stay current until then.",
            _rerun_all, form=lambda _row: ReasonForm, offered=lambda one: one.state != SubmissionState.CANCELLED,
        ),
        Act(
            "retract", "Retract", "It stops counting on every board, with a public note.", _retract,
            form=lambda _row: ReasonForm, offered=lambda one: one.state != SubmissionState.CANCELLED,
        ),
    )  # fmt: skip


def _rerun_one(request: HttpRequest, evaluation: Evaluation, said: dict[str, Any]) -> Outcome:
    rerun(request.user, [evaluation], said["reason"])
    return [f"{evaluation} is queued again."]


@admin.register(Evaluation)
class EvaluationAdmin(ReadOnlyAdmin):
    list_display = ("id", "submission", "problem", "track", "state", "current_result", "queued_at")
    list_filter = ("state", "track", "current_result__verdict")
    list_select_related = (
        "submission__entrant",
        "submission__release",
        "problem",
        "track",
        "current_result__evaluation",
    )
    show_full_result_count = False
    acts = (
        Act(
            "rerun", "Rerun", "The old result stays current until the new one lands.", _rerun_one,
            form=lambda _row: ReasonForm, offered=lambda one: one.state == EvaluationState.DONE,
        ),
    )  # fmt: skip


class RulingForm(ReasonForm):
    ruling = forms.ChoiceField(
        choices=[("uphold", "Uphold: the result does not count, or its time does not rank"), ("dismiss", "Dismiss")],
        widget=forms.RadioSelect,
    )
    field_order = ("ruling", "reason")


def _decide(request: HttpRequest, flag: Flag, said: dict[str, Any]) -> Outcome:
    decision = decide_flag(request.user, flag, upheld=said["ruling"] == "uphold", public_reason=said["reason"])
    return [f"{decision}"]


class RuledFilter(admin.SimpleListFilter):
    """The queue is what nobody has decided; it is what the list opens with."""

    title = "ruling"
    parameter_name = "ruled"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Decided"), ("all", "All")]

    def choices(self, changelist: Any) -> Any:
        yield from (
            {**one, "display": "To decide"} if n == 0 else one for n, one in enumerate(super().choices(changelist))
        )

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Flag]) -> QuerySet[Flag]:
        if self.value() == "all":
            return queryset
        if self.value() == "yes":
            return queryset.filter(decisions__isnull=False).distinct()
        return queryset.filter(decisions__isnull=True, result__current_of__isnull=False)


@admin.register(Flag)
class FlagAdmin(ReadOnlyAdmin):
    list_display = ("code", "scope", "problem", "entrant", "detail", "created_at", "ruling")
    list_filter = (RuledFilter, "scope", "code")
    ordering = ("id",)
    acts = (
        Act(
            "decide", "Decide", "Until somebody decides, the standing is incomplete. The latest ruling holds.", _decide,
            form=lambda _row: RulingForm,
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Flag]:
        rows: QuerySet[Flag] = super().get_queryset(request)
        related = rows.select_related("result__evaluation__problem", "result__evaluation__submission__entrant")
        return related.prefetch_related("decisions")

    def problem(self, flag: Flag) -> str:
        return str(flag.result.evaluation.problem)

    def entrant(self, flag: Flag) -> str:
        return str(flag.result.evaluation.submission.entrant)

    def ruling(self, flag: Flag) -> str:
        return str(next(iter(flag.decisions.all()), "–"))
