"""Similar code of different entrants: the pairs found, and both codes side by side."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse

from leaderboard.admin.base import OwnPageAdmin
from leaderboard.blobs import BlobsUnavailable
from leaderboard.models import CodePair, Sample
from leaderboard.similarity.pairs import SIMILAR
from leaderboard.submissions.rollouts import SampleUnreadable, read_sample
from leaderboard.submissions.side_by_side import compare_files
from problems.models import Release
from problems.spec.solution import SourceFile

PAGE_ROWS = 100
FILTERS = ("release", "problem")


@admin.register(CodePair)
class CodePairAdmin(OwnPageAdmin):
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:  # noqa: ARG002
        self.check_view(request)
        asked = {name: value for name in FILTERS if (value := request.GET.get(name, ""))}
        page = Paginator(_pairs(asked), PAGE_ROWS).get_page(request.GET.get("page"))
        releases = Release.objects.order_by("-pk").values_list("slug", "title")[:PAGE_ROWS]
        context = self._context(request, "Similar code of different entrants") | {
            "page": page, "asked": asked, "releases": releases, "filters": urlencode(asked), "least": SIMILAR,
        }  # fmt: skip
        return TemplateResponse(request, "admin/podium/curation/code_pairs.html", context)

    def page_of(self, request: HttpRequest, object_id: str) -> TemplateResponse:
        pair = _pairs({}).filter(pk=int(object_id)).first() if object_id.isdecimal() and len(object_id) < 19 else None
        if pair is None:
            raise Http404(f"There is no pair {object_id}.")
        (left, left_fault), (right, right_fault) = _code_of(pair.sample), _code_of(pair.other_sample)
        context = self._context(request, f"{pair.entrant} beside {pair.other_entrant}") | {
            "pair": pair, "files": compare_files(left, right),
            "faults": [one for one in (left_fault, right_fault) if one],
        }  # fmt: skip
        return TemplateResponse(request, "admin/podium/curation/code_pair.html", context)

    def _context(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": title}


def _pairs(asked: dict[str, str]) -> QuerySet[CodePair]:
    """The most similar first; `shares_members` where somebody holds both entrants, alone or in a team."""
    holders = User.objects.filter(
        Q(pk=OuterRef("entrant__owner")) | Q(memberships__team=OuterRef("entrant__team")),
    ).filter(Q(pk=OuterRef("other_entrant__owner")) | Q(teams=OuterRef("other_entrant__team")))
    rows = CodePair.objects.annotate(shares_members=Exists(holders))
    related = ("problem__release", "entrant", "other_entrant", "sample__submission", "other_sample__submission")
    rows = rows.select_related(*related).defer("problem__record")
    for name, field in (("release", "problem__release__slug"), ("problem", "problem__task_id__icontains")):
        if value := asked.get(name):
            rows = rows.filter(**{field: value})
    return rows


def _code_of(sample: Sample) -> tuple[list[SourceFile], str]:
    try:
        return list(read_sample(sample).files), ""
    except SampleUnreadable as why:
        return [], f"{sample}: {why}"
    except BlobsUnavailable:
        return [], f"{sample}: the record cannot be read now; please try again in a while."
