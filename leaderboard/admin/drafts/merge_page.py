"""Imports a file of problems into a draft that is there: a report, then what is chosen of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from leaderboard.actions.problems import merge_pack
from leaderboard.actions.problems.merge_pack import DraftChanged
from leaderboard.admin.base import ActingAdmin
from leaderboard.admin.drafts.difference_page import parts_of
from leaderboard.admin.drafts.pages import draft_or_404, page
from leaderboard.admin.drafts.sent_file import REFUSALS, SentFile, faults_of
from leaderboard.site.stale_forms import OPENED, hidden_input
from problems.actions.merging import Choices, Merged, PackBesideDraft
from problems.models import Release

SHOWN = 200
"""Problems of a kind that the report names; the rest is counted."""
SIDE_BY_SIDE = 20
"""Changed problems that the report shows line by line."""


class ChoicesForm(forms.Form):
    take_new = forms.BooleanField(label="Take the new problems", required=False, initial=True)
    replace_changed = forms.BooleanField(label="Replace the changed problems", required=False, initial=True)
    leave_out_missing = forms.BooleanField(
        label="Leave out the problems that the pack does not have", required=False,
        help_text="Nothing of them is lost: the draft keeps them, and they can be brought back.",
    )  # fmt: skip

    def __init__(self, *args: Any, found: PackBesideDraft, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.found = found
        offered = {"take_new": found.new, "replace_changed": found.changed, "leave_out_missing": found.missing}
        for name, rows in offered.items():
            if not rows:
                del self.fields[name]

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        if not any(said.values()):
            raise forms.ValidationError("Tick what to import. Nothing was ticked, and nothing was changed.")
        return said

    @property
    def choices(self) -> Choices:
        return Choices(**{name: bool(self.cleaned_data.get(name)) for name in Choices.__dataclass_fields__})


def into_draft(admin: ActingAdmin, request: HttpRequest, pk: int) -> HttpResponse:
    """POST of `confirm` does what was chosen. GET leads to the page that asks for the file."""
    release = draft_or_404(pk)
    address = reverse("admin:problems_release_import") + f"?into={release.pk}"
    if request.method != "POST":
        return redirect(address)
    try:
        return _confirmed(admin, request, release, SentFile.before(request.POST.get("confirm", "")))
    except REFUSALS as refused:
        return _page(admin, request, release, 422, faults=faults_of(refused))


def report(admin: ActingAdmin, request: HttpRequest, release: Release, sent: SentFile) -> HttpResponse:
    """Shows the changes that the file would make to the draft. Raises one of REFUSALS."""
    sent = replace(sent, slug="", head=_head_of(release))
    opened = merge_pack.token_of(release)
    found = merge_pack.compare(request.user, release, sent.pack())
    return _report(admin, request, ChoicesForm(found=found), sent.kept(), opened)


def _head_of(release: Release) -> dict[str, str]:
    """For a zip without release.yaml: nothing of it is taken, but that its problems are read under this profile."""
    return {"release": release.datapack_release, "title": release.title, "profile": release.profile}


def _confirmed(admin: ActingAdmin, request: HttpRequest, release: Release, sent: SentFile) -> HttpResponse:
    pack, now, kept = sent.pack(), merge_pack.token_of(release), request.POST["confirm"]
    opened = request.POST.get(OPENED, "")
    form = ChoicesForm(request.POST, found=merge_pack.compare(request.user, release, pack))
    if not form.is_valid():
        return _report(admin, request, form, kept, opened, 422)
    try:
        done = merge_pack.merge(request.user, release, pack, form.choices, opened)
    except DraftChanged as changed:
        return _report(admin, request, form, kept, now, 422, faults=[str(changed)])
    return _page(admin, request, release, done=_lines(done))


def _lines(done: Merged) -> Sequence[str]:
    """The import's result in words."""
    counts = {"taken": done.added, "replaced": done.replaced, "left out": done.left_out}
    said = [f"{len(rows)} problem{'' if len(rows) == 1 else 's'} {words}." for words, rows in counts.items() if rows]
    n = len(done.must_be_verified)
    return [*said, f"To be verified: {n}." if n else "Nothing has to be verified anew."]


def _report(
    admin: ActingAdmin, request: HttpRequest, form: ChoicesForm, kept: str, opened: str, status: int = 200,
    faults: Sequence[str] = (),
) -> HttpResponse:  # fmt: skip
    """`opened` is what the draft was when the report was made."""
    found = form.found
    shown = {name: getattr(found, name)[:SHOWN] for name in ("new", "changed", "missing")}
    sides = [(one.task_id, parts_of(*one.texts)) for one in found.changed[:SIDE_BY_SIDE]]
    return _page(
        admin, request, found.release, status,
        found=found, shown=shown, n_shown=SHOWN, minus_shown=-SHOWN, sides=sides, form=form, kept=kept,
        opened=hidden_input(opened), faults=faults,
    )  # fmt: skip


def _page(
    admin: ActingAdmin, request: HttpRequest, release: Release, status: int = 200, **context: Any
) -> HttpResponse:
    return page(admin, request, "merge", f"Import into {release}", status, release=release, **context)
