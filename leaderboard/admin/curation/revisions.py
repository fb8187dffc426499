"""Acts on drafts: answer for the decisions of the last revision, and delete a draft."""

from typing import Any

from django import forms
from django.http import HttpRequest
from django.shortcuts import redirect

from leaderboard.actions.curation.revisions import Answer, answer
from leaderboard.actions.problems.delete_draft import delete_draft
from leaderboard.admin.base import Act, Outcome
from leaderboard.admin.curation.effects import of_deleting
from leaderboard.curation.revisions import Question, questions
from leaderboard.errors import Refused
from problems.models import Release

MAX_ASKED = 100
"""Decisions of one form; those that wait come first."""
_CHOICES = [("", "Not answered"), ("keep", "Keep"), ("drop", "Drop")]
_MEANS = (
    "Keep: the erratum, or the ruling if the same code raises the same flag again, holds in this revision. Drop: it"
    " does not. Each needs a public reason."
)


def _asked(release: Release) -> list[Question]:
    return sorted(questions(release), key=lambda one: one.answer is not None)[:MAX_ASKED]


class AnswersForm(forms.Form):
    """Two fields for each decision, by its id; and a reason for those that have none of their own."""

    reason_for_all = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 2}), help_text="For those without a reason of their own."
    )


def _said(given: dict[str, Any]) -> dict[int, Answer]:
    """The answers that were chosen, by decision."""
    chosen = {name.removeprefix("answer_"): value for name, value in given.items() if name.startswith("answer_")}
    return {
        int(pk): Answer(choice == "keep", given[f"reason_{pk}"] or given["reason_for_all"])
        for pk, choice in chosen.items()
        if choice
    }


def _answers_form(release: Release) -> type[forms.Form]:
    fields: dict[str, forms.Field] = {}
    for one in _asked(release):
        pk, given = one.decision.pk, one.answer
        old = f"{one.decision.decided_by.get_username()} on {one.decision.at:%Y-%m-%d}: {one.decision.public_reason}"
        fields[f"answer_{pk}"] = forms.ChoiceField(
            label=one.about, choices=_CHOICES, required=False, help_text=f"{old} Not carried over: {one.why}.",
            initial=("keep" if given.keeps else "drop") if given else "",
        )  # fmt: skip
        fields[f"reason_{pk}"] = forms.CharField(
            label="Public reason", required=False, initial=given.public_reason if given else "",
        )  # fmt: skip
    return type("AnswersForm", (AnswersForm,), fields)


def _answer(request: HttpRequest, release: Release, given: dict[str, Any]) -> Outcome:
    said = _said(given)
    if not said:
        raise Refused("nothing_chosen", "Choose Keep or Drop for at least one decision.")
    made = answer(request.user, release, said)
    n_left = sum(one.answer is None for one in questions(release))
    return [*map(str, made), f"{n_left} wait for an answer." if n_left else "Every decision is answered."]


def _effect(_request: HttpRequest, release: Release) -> list[str]:
    asked = questions(release)
    n = sum(one.answer is None for one in asked)
    return [f"{n} of {len(asked)} decisions wait for an answer. Publishing is refused until each has one.", _MEANS]


ANSWER = Act(
    "answer-revision", "Answer for the last revision",
    "Decisions of the last revision that cannot be carried over without asking.", _answer, form=_answers_form,
    offered=lambda release: release.is_draft and bool(questions(release)), effect=_effect,
)  # fmt: skip


def _delete_form(release: Release) -> type[forms.Form]:
    class DeleteForm(forms.Form):
        slug = forms.CharField(label="Its slug", help_text=f"Type {release.slug} to delete it for good.")

        def clean_slug(self) -> str:
            if self.cleaned_data["slug"].strip() != release.slug:
                raise forms.ValidationError(f"This is not its slug. Type {release.slug}.")
            return release.slug

    return DeleteForm


def _delete(request: HttpRequest, release: Release, _said: dict[str, Any]) -> Outcome:
    delete_draft(request.user, release)
    return redirect("admin:problems_release_changelist")


DELETE = Act(
    "delete-draft", "Delete the draft", "It was never published. Nothing of it can be brought back.", _delete,
    form=_delete_form, offered=lambda release: release.is_draft, effect=of_deleting,
)  # fmt: skip
