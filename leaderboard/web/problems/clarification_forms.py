"""Clarifications on a problem's page: those that a visitor may read, and the form to ask."""

from typing import Any

from django import forms
from django.http import HttpRequest

from leaderboard import visibility
from leaderboard.models.curation.clarification import CLARIFICATION_CHARACTERS, ClarificationKind
from problems.models import Problem

PRIVATE = "Organisers read it. They may answer you alone, or everybody in their own words; your name is not shown."
SHOWN_CLARIFICATIONS = 100


class AskForm(forms.Form):
    kind = forms.ChoiceField(label="It is", choices=ClarificationKind.choices)
    text = forms.CharField(
        label="Your words",
        max_length=CLARIFICATION_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=PRIVATE,
    )


def clarifications_context(request: HttpRequest, problem: Problem) -> dict[str, Any]:
    """Context of `podium/problems/clarifications.html`. One query."""
    asked = visibility.visible_clarifications(request.user, problem.release).filter(problem=problem)
    return {"clarifications": list(asked[:SHOWN_CLARIFICATIONS]), "ask_form": AskForm(label_suffix="")}
