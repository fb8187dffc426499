"""The index of all entrants: searched by name, filtered by kind, a hundred a page."""

from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.models import Entrant
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.site.words import has_words, words_of
from leaderboard.web.shared.paging import other_parameters, page_of

NAMED = ("name", "organisation", "slug")
"""Fields in which words are sought."""
_KINDS = [(kind.value, kind.label) for kind in EntrantKind if kind is not EntrantKind.SYSTEM]


@require_safe
def entrants(request: HttpRequest) -> HttpResponse:
    search, kind = request.GET.get("q", ""), request.GET.get("kind", "")
    found = Entrant.objects.public().filter(has_words(words_of(search), NAMED))
    page = page_of(request, _with_boards(request, found.filter(kind=kind) if kind in dict(_KINDS) else found))
    context = {"page": page, "search": search, "kind": kind, "kinds": _KINDS, "parameters": other_parameters(request)}
    return render(request, "podium/entrants/entrants.html", context)


def _with_boards(request: HttpRequest, rows: QuerySet[Entrant]) -> QuerySet[Any]:
    """Each with `n_boards`: the number of boards on which the user sees its row. Those on most boards come first."""
    seen = visibility.visible_standings_of_all(request.user).filter(entrant=OuterRef("pk")).order_by()
    n_boards = Subquery(seen.values("entrant").annotate(n=Count("pk")).values("n"))
    return rows.annotate(n_boards=Coalesce(n_boards, 0)).order_by("-n_boards", "name")
