"""Clarifications in the admin: answer participants' questions privately or publicly, or make an erratum of one."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from leaderboard.actions.curation.clarify import answer, make_erratum
from leaderboard.admin import dashboard
from leaderboard.admin.base import Act, Outcome, ReadOnlyAdmin, ReasonForm, admin_link
from leaderboard.admin.curation import effects
from leaderboard.admin.dashboard import SHOWN_LINES, Panel, PanelLine
from leaderboard.models import Clarification
from leaderboard.models.curation.clarification import CLARIFICATION_CHARACTERS


def _answer_form(asked: Clarification) -> type[forms.Form]:
    class AnswerForm(forms.Form):
        answer = forms.CharField(
            max_length=CLARIFICATION_CHARACTERS, initial=asked.answer, widget=forms.Textarea(attrs={"rows": 5})
        )
        shown_to = forms.ChoiceField(
            choices=[("asker", "The asker alone"), ("all", "Everybody who may read the problem")],
            initial="all" if asked.is_public else "asker",
            widget=forms.RadioSelect,
        )
        public_text = forms.CharField(
            label="Question as shown",
            required=False,
            max_length=CLARIFICATION_CHARACTERS,
            initial=asked.public_text or asked.text,
            widget=forms.Textarea(attrs={"rows": 4}),
            help_text="Beside a public answer. Remove what gives the asker or a solution away. Empty: only the answer.",
        )

    return AnswerForm


def _answer(request: HttpRequest, asked: Clarification, said: dict[str, Any]) -> Outcome:
    is_public = said["shown_to"] == "all"
    answer(request.user, asked, said["answer"], public_text=said["public_text"] if is_public else None)
    return [f"Answered to {'everybody' if is_public else 'the asker alone'}."]


def _make_erratum(request: HttpRequest, asked: Clarification, said: dict[str, Any]) -> Outcome:
    make_erratum(request.user, asked, said["reason"])
    return [f"{asked.problem} is void: it leaves every denominator of {asked.problem.release} at once."]


class AnsweredFilter(admin.SimpleListFilter):
    title = "answer"
    parameter_name = "answered"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, str]]:
        return [("no", "To answer"), ("yes", "Answered")]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Clarification]) -> QuerySet[Clarification]:
        if self.value() not in ("no", "yes"):
            return queryset
        return queryset.filter(answered_at__isnull=self.value() == "no")


@admin.register(Clarification)
class ClarificationAdmin(ReadOnlyAdmin):
    list_display = ("words", "kind", "problem_link", "asked_by", "asked_at", "answered_at", "is_public", "page")
    list_filter = (AnsweredFilter, "kind", "is_public", "problem__release")
    search_fields = ("text", "answer", "problem__task_id", "asked_by__username")
    list_select_related = ("problem__release", "asked_by")
    acts = (
        Act("answer", "Answer", "A later answer takes the place of an earlier one.", _answer, form=_answer_form,
            edits=("answer", "is_public", "public_text")),
        Act(
            "erratum", "Make an erratum", "The problem leaves every score of its release; the reason is the answer.",
            _make_erratum, form=lambda _row: ReasonForm, offered=lambda asked: asked.erratum_id is None,
            effect=effects.of_erratum,
        ),
    )  # fmt: skip

    @admin.display(description="asked")
    def words(self, asked: Clarification) -> str:
        return asked.text[:100]

    @admin.display(description="problem")
    def problem_link(self, asked: Clarification) -> str:
        return admin_link(asked.problem)


@dashboard.register("leaderboard.view_clarification")
def _to_answer() -> Panel:
    rows = Clarification.objects.filter(answered_at=None)
    return Panel(
        "To answer",
        "Questions and reports of faults without an answer, oldest first.",
        reverse("admin:leaderboard_clarification_changelist", query={"answered": "no"}),
        dashboard.bounded_count(rows),
        [
            PanelLine(
                f"{one.get_kind_display()} about {one.problem}",
                reverse("admin:leaderboard_clarification_change", args=[one.pk]),
                f"{one.asked_by}, {dashboard.ago(one.asked_at)} ago: {one.text[:100]}",
            )
            for one in rows.select_related("problem", "asked_by").order_by("id")[:SHOWN_LINES]
        ],
        "Nobody waits for an answer.",
    )
