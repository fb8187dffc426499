"""Names in the admin: those that look alike today, so that an organiser can ask one of the owners for another."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse

from leaderboard.admin.base import OwnPageAdmin
from leaderboard.entrants.name_records import alike
from leaderboard.models import NameKind, NameSkeleton
from leaderboard.models.entrants.names import why_imitates

PAGE_ROWS = 200
_TABLES = {
    NameKind.ENTRANT: "leaderboard_entrant",
    NameKind.ORGANISATION: "leaderboard_entrant",
    NameKind.TEAM: "leaderboard_team",
    NameKind.USER: "auth_user",
}


@admin.register(NameSkeleton)
class NameSkeletonAdmin(OwnPageAdmin):
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:  # noqa: ARG002
        self.check_view(request)
        return self._listed(request, alike())

    def page_of(self, request: HttpRequest, object_id: str) -> TemplateResponse:
        """The name with those that look like it."""
        is_number = object_id.isdecimal() and len(object_id) < 19
        row = NameSkeleton.objects.filter(pk=int(object_id)).first() if is_number else None
        if row is None:
            raise Http404(f"There is no name {object_id}.")
        same = NameSkeleton.objects.filter(kind=row.kind, digest=row.digest)
        return self._listed(request, same.order_by("row_id"))

    def _listed(self, request: HttpRequest, rows: QuerySet[NameSkeleton]) -> TemplateResponse:
        page = Paginator(rows, PAGE_ROWS).get_page(request.GET.get("page"))
        context = {
            **self.admin_site.each_context(request), "opts": self.opts, "title": "Names that look alike",
            "page": page, "groups": list(_groups(page)),
        }  # fmt: skip
        return TemplateResponse(request, "admin/podium/names.html", context)


def _groups(rows: Iterable[NameSkeleton]) -> Iterator[dict[str, Any]]:
    """Names that look alike, each with the page of its row and why a new one like it would be refused."""
    for (kind, _), names in groupby(rows, key=lambda row: (row.kind, row.digest)):
        shown = [
            {
                "name": row.name,
                "url": reverse(f"admin:{_TABLES[NameKind(kind)]}_change", args=[row.row_id]),
                "note": why_imitates(row.name),
            }
            for row in names
        ]
        yield {"kind": NameKind(kind).label, "names": shown}
