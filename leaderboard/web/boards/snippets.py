"""Lines to copy into another site: an entrant's badge and a release's framed board."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.html import escape

from leaderboard.models import Entrant, Standing
from leaderboard.web.shared.shareable import absolute
from problems.models import Release

MOST_BADGES = 20
_FRAME_HEIGHT_PX = 480


def is_public(release: Release) -> bool:
    """Whether a stranger sees the release's results now."""
    return not release.is_draft and (release.is_public or release.results_are_public) and not release.results_are_hidden


@dataclass(frozen=True)
class Badge:
    """A badge's address on this site, and the snippets that show it elsewhere: text, which a page escapes."""

    title: str
    alt: str
    path: str
    markdown: str
    html: str


def badges_of(entrant: Entrant, standings: Sequence[Standing]) -> list[Badge]:
    """One for each result; the newest release first."""
    return [_badge(entrant, one) for one in standings[:MOST_BADGES]]


def _badge(entrant: Entrant, standing: Standing) -> Badge:
    release, track = standing.release, standing.track
    path = reverse("badge", args=[release.slug, track.slug, entrant.slug])
    page = absolute(reverse("board", args=[release.slug], query={"track": track.slug}))
    alt = f"{entrant.name} on {release.title}"
    plain = re.sub(r"[\\\[\]<>`*_!]", r"\\\g<0>", alt)
    return Badge(
        title=f"{release.title} on {track.slug}",
        alt=alt,
        path=path,
        markdown=f"[![{plain}]({absolute(path)})]({page})",
        html=f'<a href="{escape(page)}"><img src="{escape(absolute(path))}" alt="{escape(alt)}" height="22"></a>',
    )


def frame_snippet(release: Release, track: str) -> str:
    """An iframe of the board's first rows; empty unless strangers see its results."""
    if not is_public(release):
        return ""
    address = absolute(reverse("framed_board", args=[release.slug], query={"track": track} if track else None))
    facts = f'src="{escape(address)}" title="{escape(release.title)}" width="100%" height="{_FRAME_HEIGHT_PX}"'
    return f'<iframe {facts} loading="lazy"></iframe>'
