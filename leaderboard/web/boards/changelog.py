"""A release's changelog, and the Atom feeds of a release and of the site."""

from collections.abc import Sequence

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_safe

from leaderboard.boards.changelog import ChangelogEntry, changes_of
from leaderboard.web.boards.tabs import release_context
from leaderboard.web.shared.lookups import release_or_404
from leaderboard.web.shared.shareable import (
    FRESH_SECONDS,
    STRANGER,
    absolute,
    public_release_or_404,
    public_releases,
    shareable,
)

FEED_ENTRIES = 50
FEED_RELEASES = 10
"""The site's feed tells of the newest so many releases."""
_SITE_NEWS = "site-news"


@require_safe
def changelog(request: HttpRequest, slug: str) -> HttpResponse:
    release = release_or_404(request, slug)
    context = release_context(request, release, "release_about") | {"changes": changes_of(request.user, release)}
    return render(request, "podium/boards/changelog.html", context)


@shareable
def release_feed(_request: HttpRequest, slug: str) -> HttpResponse:
    """The history of a release, as far as strangers may know."""
    release = public_release_or_404(slug)
    pages = reverse("board", args=[slug]), reverse("release_feed", args=[slug])
    return _feed(f"{release.title} · Podium", pages, changes_of(STRANGER, release))


@shareable
def site_feed(_request: HttpRequest) -> HttpResponse:
    """The same of the newest releases. Read once in five minutes."""
    changes = cache.get_or_set(_SITE_NEWS, _site_news, FRESH_SECONDS) or []
    return _feed("Podium", (reverse("home"), reverse("site_feed")), changes, names_release=True)


def _site_news() -> list[ChangelogEntry]:
    releases = public_releases().order_by("-published_at", "-id")[:FEED_RELEASES]
    changes = [one for release in releases for one in changes_of(STRANGER, release)[:FEED_ENTRIES]]
    return sorted(changes, key=lambda one: (one.at, one.key), reverse=True)[:FEED_ENTRIES]


def _feed(
    title: str, pages: tuple[str, str], changes: Sequence[ChangelogEntry], names_release: bool = False
) -> HttpResponse:
    """`pages` are the addresses of the page that the feed belongs to, and of the feed."""
    page, own = map(absolute, pages)
    feed = Atom1Feed(title=title, link=page, description=None, feed_url=own, feed_guid=own, author_name="Podium")
    for one in changes[:FEED_ENTRIES]:
        feed.add_item(
            title=_printable(f"{one.release.title}: {one.title}" if names_release else one.title),
            link=absolute(one.path),
            description=_printable(one.text),
            unique_id=f"{absolute(reverse('board', args=[one.release.slug]))}#{one.key}",
            pubdate=one.at,
            updateddate=one.at,
            categories=[one.kind],
        )
    return HttpResponse(feed.writeString("utf-8"), content_type="application/atom+xml; charset=utf-8")


def _printable(text: str) -> str:
    """Without the control characters that XML cannot hold."""
    return "".join(one for one in text if one in "\t\n\r" or one >= " ")
