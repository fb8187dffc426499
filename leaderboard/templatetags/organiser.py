"""Template tags: links of organisers from a public page to the admin, and the errors of a form, each with its field."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django import forms, template
from django.apps import apps
from django.contrib import admin
from django.db import models
from django.urls import reverse

from leaderboard.curation.editors import problem_editor
from problems.models import Problem, Release

register = template.Library()

_ROWS = ("release", "problem", "entrant", "submission", "evaluation", "node", "track", "team")
"""Names of a page's context whose rows the admin edits or shows."""
_LISTS = {
    "home": "problems.release", "releases": "problems.release", "nodes": "fleet.node", "compare": "problems.release",
    "compare_code": "problems.release",
}  # fmt: skip
"""Public pages about many rows, by the name of their address, and the model whose list the admin has."""


@dataclass(frozen=True)
class OrganiserLink:
    text: str
    url: str


@register.inclusion_tag("podium/site/organiser_links.html", takes_context=True)
def organiser_links(context: template.Context) -> dict[str, Any]:
    """The page's rows in the admin, of those that the user may open there. Nothing for everybody else."""
    user: Any = context.get("user")
    if user is None or not (user.is_active and user.is_staff):
        return {"links": []}
    rows = {name: row for name in _ROWS if isinstance(row := context.get(name), models.Model) and row.pk}
    if "evaluation" in rows:
        rows.setdefault("problem", context["evaluation"].problem)
    is_void = bool(context.get("voided"))
    links = [link for row in rows.values() for link in _links(user, row, is_void=is_void)]
    return {"links": links or list(_list_links(user, context))}


def _list_links(user: Any, context: template.Context) -> Iterator[OrganiserLink]:
    match = getattr(context.get("request"), "resolver_match", None)
    label = _LISTS.get(match.url_name or "") if match else None
    if label is None:
        return
    opts = apps.get_model(label)._meta
    if user.has_perm(f"{opts.app_label}.view_{opts.model_name}"):
        url = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")
        yield OrganiserLink(f"{str(opts.verbose_name_plural).capitalize()} in the admin", url)


def _links(user: Any, row: models.Model, *, is_void: bool) -> Iterator[OrganiserLink]:
    opts = row._meta
    name = f"{opts.app_label}.{{}}_{opts.model_name}"
    may_change = user.has_perm(name.format("change"))
    if type(row) not in admin.site._registry or not (may_change or user.has_perm(name.format("view"))):
        return
    own = reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[row.pk])
    yield OrganiserLink(f"{str(opts.verbose_name).capitalize()} in the admin", own)
    if not may_change:
        return
    if isinstance(row, Release) and row.is_draft:
        yield OrganiserLink("Edit its problems", reverse("admin:problems_release_draft", args=[row.pk]))
    if isinstance(row, Problem):
        if row.release.is_draft and user.has_perm("problems.change_release"):
            yield OrganiserLink("Edit the problem", problem_editor(row))
        if not is_void:
            yield OrganiserLink("Void the problem", reverse("admin:problems_problem_act", args=[row.pk, "void"]))


@dataclass(frozen=True)
class FieldError:
    """`target` is the id of the field's first input, or "" for an error of the whole form."""

    target: str
    label: str
    words: str


@register.inclusion_tag("podium/site/error_summary.html")
def error_summary(form: Any, formsets: Any = (), sections: Any = (), also: Any = ()) -> dict[str, Any]:
    """The errors of a form, of its inlines and of its sections of files, each with a link to its field.

    `also` are further sentences, as of an uploaded file.
    """
    faults = [*_of_form(form), *(FieldError("", "", words) for words in also)]
    for one in formsets or ():
        formset = getattr(one, "formset", one)
        faults += [FieldError("", "", words) for words in formset.non_form_errors()]
        faults += [fault for inline in formset.forms for fault in _of_form(inline)]
    for section in sections or ():
        faults += list(_of_files(section))
    return {"faults": faults}


def _of_form(form: Any) -> Iterator[FieldError]:
    if not getattr(form, "is_bound", False):
        return
    for name, errors in form.errors.items():
        field = form[name] if name in form.fields and not form[name].is_hidden else None
        target, label = (_target(field), str(field.label)) if field else ("", "")
        for words in errors:
            yield FieldError(target, label, str(words))


def _target(field: forms.BoundField) -> str:
    """The id that a link leads to. In a group of boxes it is the first box: the group itself takes no focus."""
    many = isinstance(field.field.widget, forms.RadioSelect | forms.CheckboxSelectMultiple)
    return f"{field.auto_id}_0" if many else field.id_for_label


def _of_files(section: Any) -> Iterator[FieldError]:
    place = section.section
    for words in section.faults:
        yield FieldError(f"files-{place.name}", place.title, words)
    for n, row in enumerate(section.rows):
        if row.fault:
            yield FieldError(f"file-{place.name}-{n}", row.path or row.name or place.title, row.fault)
