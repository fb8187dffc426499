"""Addresses of the pages of drafts, for the admin of releases; and the buttons that each row of a list has."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from leaderboard.actions.problems import drafts
from leaderboard.admin.base import ActingAdmin
from leaderboard.errors import Refused
from problems.actions.releases import ReleaseRefused
from problems.models import Problem, Release

PER_PAGE = 100
if TYPE_CHECKING:
    _Base = ActingAdmin
else:
    _Base = object

View = Callable[..., HttpResponseBase]


class DraftPages(_Base):
    """The admin of releases with the pages on which drafts are made. All need the permission to change releases."""

    def get_urls(self) -> list[URLPattern]:
        from leaderboard.admin.drafts import (
            difference_page,
            import_page,
            merge_page,
            new_page,
            packing_page,
            problem_page,
            weights_page,
        )
        from leaderboard.admin.drafts.lists import copy_page, list_page

        pages: Mapping[str, tuple[str, View]] = {
            "import": ("act/import/", import_page.import_pack),  # in place of the act's own page
            "packings": ("act/pack/", packing_page.uploads),
            "packing": ("act/pack/<int:packing>/", packing_page.upload),
            "packing_state": ("act/pack/<int:packing>/state/", packing_page.state),
            "packing_file": ("act/pack/<int:packing>/pack.tar.gz", packing_page.download),
            "packing_act": ("act/pack/<int:packing>/<slug:act>/", packing_page.upload_act),
            "draft": ("<int:pk>/act/problems/", list_page.problems),
            "draft_chosen": ("<int:pk>/problems/chosen/", list_page.chosen),
            "draft_import": ("<int:pk>/act/import/", merge_page.into_draft),
            "draft_new": ("<int:pk>/problems/new/", new_page.new_problem),
            "draft_copy": ("<int:pk>/problems/copy/", copy_page.copy_problems),
            "draft_preview": ("<int:pk>/problems/preview/", problem_page.preview),
            "draft_problem": ("<int:pk>/problems/<int:problem>/", problem_page.edit),
            "draft_act": ("<int:pk>/problems/<int:problem>/<slug:act>/", act),
            "draft_weights": ("<int:pk>/act/weights/", weights_page.weights),
            "difference": ("<int:pk>/act/difference/", difference_page.difference),
        }
        own = [
            path(route, self.admin_site.admin_view(partial(_checked, view, self)), name=f"problems_release_{name}")
            for name, (route, view) in pages.items()
        ]
        return [*own, *super().get_urls()]


def _checked(view: View, admin: DraftPages, request: HttpRequest, **more: Any) -> HttpResponseBase:
    if not admin.may_act(request):
        raise PermissionDenied
    return view(admin, request, **more)


def page(
    admin: DraftPages, request: HttpRequest, template: str, title: str, status: int = 200, **context: Any
) -> TemplateResponse:
    shared = {**admin.admin_site.each_context(request), "opts": admin.opts, "title": title}
    return TemplateResponse(request, f"admin/drafts/{template}.html", shared | context, status=status)


def draft_or_404(pk: int) -> Release:
    found = get_object_or_404(Release, pk=pk)
    if not found.is_draft:
        raise Http404(f"{found.slug} is {found.state}: its problems never change. Start its next revision.")
    return found


_ACTS: Mapping[str, tuple[Callable[[Any, Problem], None], str]] = {
    "up": (lambda user, row: drafts.move_problem(user, row, -1), "is one place further up"),
    "down": (lambda user, row: drafts.move_problem(user, row, 1), "is one place further down"),
    "first": (lambda user, row: drafts.move_problem(user, row, -100_000), "comes first"),
    "last": (lambda user, row: drafts.move_problem(user, row, 100_000), "comes last"),
    "delete": (drafts.delete_problem, "is deleted"),
}


def act(_admin: DraftPages, request: HttpRequest, pk: int, problem: int, act: str) -> HttpResponse:
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
