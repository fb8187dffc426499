"""The buttons that each row of a draft's list has."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from leaderboard.actions.problems import drafts
from leaderboard.admin.base import ActingAdmin
from leaderboard.admin.drafts.pages import draft_or_404
from leaderboard.errors import Refused
from problems.actions.releases import ReleaseRefused
from problems.models import Problem

_ACTS: Mapping[str, tuple[Callable[[Any, Problem], None], str]] = {
    "up": (lambda user, row: drafts.move_problem(user, row, -1), "is one place further up"),
    "down": (lambda user, row: drafts.move_problem(user, row, 1), "is one place further down"),
    "first": (lambda user, row: drafts.move_problem(user, row, -100_000), "comes first"),
    "last": (lambda user, row: drafts.move_problem(user, row, 100_000), "comes last"),
    "delete": (drafts.delete_problem, "is deleted"),
}


def act(_admin: ActingAdmin, request: HttpRequest, pk: int, problem: int, act: str) -> HttpResponse:
    """A button of a row; then the list again, as the address's parameters narrow it."""
    release = draft_or_404(pk)
    if request.method != "POST":
        return HttpResponse(status=405, headers={"Allow": "POST"})
    if act not in _ACTS:
        raise Http404(f"There is no act {act!r}.")
    row = get_object_or_404(Problem.with_left_out.select_related("release"), pk=problem, release=release)
    run, words = _ACTS[act]
    name = row.task_id
    try:
        run(request.user, row)
        messages.success(request, f"{name} {words}.")
    except (Refused, ReleaseRefused) as refused:
        messages.error(request, str(refused))
    query = f"?{request.GET.urlencode()}" if request.GET else ""
    return redirect(f"{reverse('admin:problems_release_draft', args=[release.pk])}{query}#problem-{problem}")
