"""The page on which a problem of a draft is edited, and the preview of its statement."""

import copy
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from leaderboard.actions.problems import drafts
from leaderboard.admin.base import ActingAdmin
from leaderboard.admin.drafts import files
from leaderboard.admin.drafts.files import FileRow, Typed
from leaderboard.admin.drafts.forms import FORMS, Fields, ProblemForm
from leaderboard.admin.drafts.packed import packed_function
from leaderboard.admin.drafts.pages import draft_or_404, page
from leaderboard.errors import Refused
from problems.actions.drafts import RecordRefused, fields_of
from problems.actions.releases import ReleaseRefused
from problems.formats.errors import PackRefused
from problems.models import Problem, Release
from problems.spec.site.problem import problem_warnings

PREVIEW_CHARACTERS = 200_000


@dataclass
class Editor:
    """The contents of the page: the form, the files by section, and the record that they came from."""

    problem: Problem
    record: Fields
    form: ProblemForm
    typed: Typed
    opened: str
    """The record's hash when the page was opened."""
    status: int = 200

    @property
    def visible(self) -> list[files.SectionRows]:
        return [one for one in self.typed.values() if not one.section.held_out]

    @property
    def held_out(self) -> list[files.SectionRows]:
        return [one for one in self.typed.values() if one.section.held_out]

    @property
    def fixed_files(self) -> list[Any]:
        """The files of a function problem that only a pack changes."""
        if self.problem.kind != "function":
            return []
        spec = self.problem.spec
        solutions = [file for one in spec.baselines.values() for file in one.files]
        return [one.file for one in spec.files] + solutions


def edit(admin: ActingAdmin, request: HttpRequest, pk: int, problem: int) -> HttpResponse:
    """GET shows the problem; POST saves it, or shows what was typed with what is wrong."""
    release = draft_or_404(pk)
    row = get_object_or_404(Problem.objects.select_related("release"), pk=problem, release=release)
    if request.method != "POST":
        return _render(admin, request, _opened(row))
    editor = _sent(request, row)
    if section := request.POST.get("add", ""):
        if section in editor.typed:
            editor.typed[section].rows.append(FileRow())
        editor.form = _unjudged(editor)
    elif "preview" in request.POST:
        editor.form = _unjudged(editor)
    elif _save(request, editor):
        return redirect(request.get_full_path() if "stay" in request.POST else _list_of(request, row))
    else:
        editor.status = 422
    return _render(admin, request, editor)


def _list_of(request: HttpRequest, row: Problem) -> str:
    """The draft's list at this problem, narrowed by the parameters with which the list led here."""
    query = f"?{request.GET.urlencode()}" if request.GET else ""
    return f"{reverse('admin:problems_release_draft', args=[row.release_id])}{query}#problem-{row.pk}"


def _opened(row: Problem) -> Editor:
    record = fields_of(row.spec)
    kind = FORMS[row.kind]
    form = kind(initial=kind.initial_of(record), profile=row.release.profile)
    sections = files.sections_of(row.kind, is_podium=form.is_podium)
    return Editor(row, record, form, files.rows_of(record, sections), row.record_md5)


def _sent(request: HttpRequest, row: Problem) -> Editor:
    record = fields_of(row.spec)
    form = FORMS[row.kind](request.POST, request.FILES, profile=row.release.profile)
    sections = files.sections_of(row.kind, is_podium=form.is_podium)
    typed = files.typed_files(request, record, sections)
    return Editor(row, record, form, typed, request.POST.get("opened", ""))


def _unjudged(editor: Editor) -> ProblemForm:
    """The form with what was typed and without faults: it was not sent to be saved."""
    typed: Fields = {
        name: field.widget.value_from_datadict(editor.form.data, editor.form.files, name)
        for name, field in editor.form.fields.items()
        if not isinstance(field, forms.FileField)
    }
    return type(editor.form)(initial=typed, profile=editor.problem.release.profile)


def _save(request: HttpRequest, editor: Editor) -> bool:
    """Whether it was saved; if not, the editor says why."""
    form = editor.form
    are_valid = files.are_valid(editor.typed)
    if not form.is_valid() or not are_valid:
        return False
    record = copy.deepcopy(editor.record)
    try:
        packed = form.cleaned_data.get("packed")
        if packed:
            packed_function(packed, record)
        form.edit(record)
        if editor.typed and not packed:
            files.edit_files(record, editor.typed)
        change = drafts.change_problem(request.user, editor.problem, record, editor.opened)
    except RecordRefused as refused:
        for words in files.place_faults(editor.typed, form.show(refused)):
            form.add_error(None, words)
        return False
    except (Refused, ReleaseRefused, PackRefused) as refused:
        form.add_error("packed" if isinstance(refused, PackRefused) else None, str(refused))
        return False
    messages.success(request, _saved_words(change))
    if said := problem_warnings(change.problem.spec):
        messages.warning(request, f"Look at this: {'; '.join(said)}.")
    return True


def _saved_words(change: Any) -> str:
    if not change.changed:
        return f"{change.problem.task_id}: nothing was changed."
    if change.regraded:
        return f"{change.problem.task_id} is saved. Results depend on what you changed: it must be verified anew."
    return f"{change.problem.task_id} is saved. Results do not depend on what you changed."


def _render(admin: ActingAdmin, request: HttpRequest, editor: Editor) -> HttpResponse:
    release: Release = editor.problem.release
    statement = editor.form["prompt"].value() or ""
    return page(
        admin, request, "problem", f"{editor.problem.task_id} of {release}", editor.status,
        release=release, problem=editor.problem, editor=editor, form=editor.form, statement=statement,
        verdicts=files.VERDICTS, form_template=f"admin/drafts/kinds/{editor.problem.kind}.html",
        list_url=_list_of(request, editor.problem),
    )  # fmt: skip


def preview(_admin: ActingAdmin, request: HttpRequest, pk: int) -> HttpResponse:
    """The statement that is being typed, as pages show it. Stores nothing."""
    draft_or_404(pk)
    if request.method != "POST":
        return HttpResponse(status=405, headers={"Allow": "POST"})
    text = request.POST.get("prompt", "")[:PREVIEW_CHARACTERS]
    return render(request, "admin/drafts/parts/preview.html", {"statement": text})
