"""New problems of a draft: from a template of each kind, or as copies of another release's."""

import copy
import json
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from leaderboard.actions.problems import drafts
from leaderboard.admin.base import ActingAdmin, Outcome
from leaderboard.admin.drafts.pages import PER_PAGE, draft_or_404, page
from leaderboard.errors import Refused
from problems.actions.releases import ReleaseRefused
from problems.models import Problem, Release

_FOLDER = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Template:
    """A small problem that works: the start of a new one."""

    name: str
    title: str
    words: str

    def record(self, task_id: str) -> dict[str, Any]:
        fields = copy.deepcopy(_content(self.name))
        fields |= {"task_id": task_id, "date": date.today().isoformat()}
        if fields.get("baseline_solution"):
            fields["baseline_solution"]["task_id"] = task_id
        if "salt" in fields:
            fields["salt"] = token_hex(16)
        return fields


TEMPLATES = {
    one.name: one
    for one in (
        Template("cpp", "C++ on a CPU", "A command problem: a harness built with the solution tests and times it."),
        Template("python", "Python on a CPU", "A command problem: a script runs the solution in another process."),
        Template("cuda_cpp", "CUDA C++", "A command problem for nvcc: a vector sum, its kernels timed."),
        Template("function", "Function", "A Python class makes inputs and checks outputs; a pack brings it."),
        Template("choice", "Question with choices", "One of several texts is right. Settled without a node."),
        Template("short_answer", "Question with a short answer", "A number or a few words. Settled without a node."),
    )
}  # fmt: skip


@cache
def _content(name: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return fields


def new_problem(admin: ActingAdmin, request: HttpRequest, pk: int) -> HttpResponse:
    """GET offers the templates; POST adds a problem from one and opens it."""
    release = draft_or_404(pk)
    fault, task_id, chosen = "", request.POST.get("task_id", "").strip(), request.POST.get("template", "cpp")
    if request.method == "POST":
        try:
            row = _added(request, release, task_id, chosen)
            return redirect(reverse("admin:problems_release_draft_problem", args=[release.pk, row.pk]))
        except (Refused, ReleaseRefused) as refused:
            fault = str(refused)
    return page(
        admin, request, "new", f"New problem of {release}", 422 if fault else 200,
        release=release, templates=TEMPLATES.values(), fault=fault, task_id=task_id, chosen=chosen,
        others=Release.objects.exclude(pk=release.pk).only("slug", "title")[:PER_PAGE],
    )  # fmt: skip


def _added(request: HttpRequest, release: Release, task_id: str, chosen: str) -> Problem:
    if chosen not in TEMPLATES:
        raise Refused("no_template", "Choose one of the templates.")
    if not task_id:
        raise Refused("no_task_id", "Give the problem a task_id, as sums/prefix.")
    return drafts.add_problem(request.user, release, TEMPLATES[chosen].record(task_id))


class NewDraftForm(forms.Form):
    name = forms.CharField(
        max_length=60, help_text="The name inside its packs, as spring-2027. It never changes; revisions share it."
    )
    title = forms.CharField(max_length=200, help_text="Shown on its pages.")


def new_draft(request: HttpRequest, _row: None, said: dict[str, Any]) -> Outcome:
    made = drafts.new_draft(request.user, said["name"], said["title"])
    return redirect("admin:problems_release_draft", made.pk)


def next_revision(request: HttpRequest, release: Release, _said: dict[str, Any]) -> Outcome:
    made = drafts.next_revision(request.user, release)
    return redirect("admin:problems_release_draft", made.pk)


def has_own_page(_request: HttpRequest, _row: Any, _said: dict[str, Any]) -> Outcome:
    """For acts whose address leads to a page of drafts."""
    return ["This page has moved. Go back and press the button again."]
