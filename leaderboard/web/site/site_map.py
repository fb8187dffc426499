"""sitemap.xml and robots.txt: the pages that a stranger may open, for search engines."""

from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.sitemaps import Sitemap, views
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from leaderboard.models import Entrant
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.web.shared.shareable import FRESH_SECONDS, STRANGER, absolute, public_releases
from problems.models import Problem, Release, results_are_open

_PLAIN = ("home", "releases", "entrants", "nodes", "about", "api")
_OF_RELEASE = ("board", "charts", "problems", "coverage", "changelog", "release_about")
_CLOSED = (
    "/admin/",
    "/account/",
    "/accounts/",
    "/api/v1/",
    "/api/node/",
    "/compare/",
    "/search/",
    "/submissions/new/",
    "/embed/",
)


class _OfSite(Sitemap):  # type: ignore[type-arg]  # generic in its stubs alone
    """Addresses with the configured host, not the one of the request."""

    limit = 5000

    def get_protocol(self, protocol: str | None = None) -> str:  # noqa: ARG002 - the base class's signature
        return urlsplit(settings.SITE_URL).scheme

    def get_domain(self, site: Any = None) -> str:  # noqa: ARG002 - the base class's signature
        return urlsplit(settings.SITE_URL).netloc


class _Plain(_OfSite):
    def items(self) -> list[str]:
        return list(_PLAIN)

    def location(self, item: str) -> str:
        return reverse(item)


class _Releases(_OfSite):
    def items(self) -> list[tuple[Release, str]]:
        return [(release, name) for release in public_releases() for name in _OF_RELEASE]

    def location(self, item: tuple[Release, str]) -> str:
        return reverse(item[1], args=[item[0].slug])

    def lastmod(self, item: tuple[Release, str]) -> datetime | None:
        return item[0].frozen_at or item[0].published_at


class _Problems(_OfSite):
    def items(self) -> QuerySet[Problem]:
        readable = Release.objects.readable_by(STRANGER)
        rows = Problem.objects.filter(release__in=readable, do_not_release=False).select_related("release")
        return rows.only("slug", "release__slug").order_by("release_id", "position")


class _Entrants(_OfSite):
    """Entrants on a board whose results are public."""

    def items(self) -> QuerySet[Entrant]:
        shown = public_releases().filter(results_are_open())
        rows = Entrant.objects.filter(standings__release__in=shown).exclude(kind=EntrantKind.SYSTEM)
        return rows.distinct().order_by("pk")


SECTIONS: dict[str, Any] = {"site": _Plain, "releases": _Releases, "problems": _Problems, "entrants": _Entrants}


@require_safe
def sitemap_index(request: HttpRequest) -> HttpResponse:
    return views.index(request, SECTIONS, sitemap_url_name="sitemap_section")


@require_safe
@cache_control(public=True, max_age=FRESH_SECONDS)
def sitemap_section(request: HttpRequest, section: str) -> HttpResponse:
    return views.sitemap(request, SECTIONS, section=section)


@require_safe
def robots(_request: HttpRequest) -> HttpResponse:
    closed = "".join(f"Disallow: {path}\n" for path in _CLOSED)
    text = f"User-agent: *\n{closed}\nSitemap: {absolute(reverse('sitemap'))}\n"
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
