"""One search over releases, problems and entrants, as far as the visitor may see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.models import Entrant
from leaderboard.site.words import MOST_CHARACTERS, has_words, words_of
from leaderboard.web.entrants import index
from problems.models import Problem, Release

MOST_FOUND = 20
"""Rows that are shown of each kind."""


@dataclass(frozen=True)
class Found:
    """The first rows of one kind; `is_cut` if there are more."""

    rows: Sequence[Any]
    is_cut: bool


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Three queries; none without words."""
    typed = request.GET.get("q", "")
    words = words_of(typed)
    context: dict[str, Any] = {"search": typed[:MOST_CHARACTERS], "most": MOST_CHARACTERS, "has_words": bool(words)}
    if words:
        context |= {
            "releases": _first(_releases(request.user, words)),
            "problems": _first(_problems(request.user, words)),
            "entrants": _first(_entrants(words)),
        }
    return render(request, "podium/site/search.html", context)


def _first(rows: QuerySet[Any]) -> Found:
    found = list(rows[: MOST_FOUND + 1])
    return Found(found[:MOST_FOUND], len(found) > MOST_FOUND)


def _releases(user: Any, words: Sequence[str]) -> QuerySet[Release]:
    rows = Release.objects.visible_to(user).filter(has_words(words, ("title", "slug", "description")))
    return rows.order_by("-published_at", "-pk")


def _problems(user: Any, words: Sequence[str]) -> QuerySet[Problem]:
    """Problems that fit by a name that their release's table shows; statements are not searched."""
    rows = Problem.objects.filter(release__in=Release.objects.visible_to(user))
    rows = rows.filter(has_words(words, ("title", "task_id", "group", "release__title")))
    return rows.select_related("release").defer("record").order_by("-release__published_at", "release", "position")


def _entrants(words: Sequence[str]) -> QuerySet[Entrant]:
    return visibility.visible_entrants(None).filter(has_words(words, index.NAMED)).order_by("name")
