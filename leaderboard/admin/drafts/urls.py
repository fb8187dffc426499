"""Addresses of the pages of drafts, for the admin of releases."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, path

from leaderboard.admin.base import ActingAdmin
from leaderboard.admin.drafts import (
    difference_page,
    import_page,
    merge_page,
    new_page,
    packing_page,
    problem_page,
    weights_page,
)
from leaderboard.admin.drafts.lists import copy_page, list_page, row_acts

if TYPE_CHECKING:
    _Base = ActingAdmin
else:
    _Base = object

View = Callable[..., HttpResponseBase]


class DraftPages(_Base):
    """The admin of releases with the pages on which drafts are made. All need the permission to change releases."""

    def get_urls(self) -> list[URLPattern]:
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
            "draft_act": ("<int:pk>/problems/<int:problem>/<slug:act>/", row_acts.act),
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
