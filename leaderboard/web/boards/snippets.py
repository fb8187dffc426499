"""Lines to copy elsewhere: an entrant's badge, a release's framed board, and BibTeX of a release and of a board."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse
from django.utils.html import escape

from leaderboard.boards.query import BoardQuery
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


def release_citation(release: Release) -> str:
    """BibTeX of the release's problems."""
    return _bibtex(f"podium-{release.slug}", release, release.get_absolute_url(), {"note": _facts(release)})


def board_citation(release: Release, query: BoardQuery) -> str:
    """BibTeX of a board as of a day: its address shows the same ranking at any later time."""
    day = f"{query.as_of}"
    over = f", over {query.choice.words}" if query.choice else ""
    note = f"{_facts(release)}, track {query.track}, ranked by {release.primary_metric}{over}, as of {day} UTC"
    key = "-".join(part for part in ("podium", release.slug, query.track, day) if part)
    return _bibtex(key, release, release.get_absolute_url() + query.url(), {"note": note, "urldate": day})


def _facts(release: Release) -> str:
    return f"release {release.slug}, revision {release.revision}, sha256 {release.digest}"


def _bibtex(key: str, release: Release, path: str, further: Mapping[str, str]) -> str:
    """An entry of type misc. Every value is text, in which TeX's characters are escaped, but the address."""
    site = urlsplit(settings.SITE_URL).netloc
    texts = {
        "author": _tex(release.authors) if release.authors else f"{{Podium at {_tex(site)}}}",
        "title": f"{{{_tex(release.title)}}}",
        "howpublished": f"Podium leaderboard at {_tex(site)}",
        "year": f"{release.published_at:%Y}" if release.published_at else "",
        **{name: _tex(text) for name, text in further.items()},
        "url": absolute(path),
    }
    width = max(map(len, texts))
    lines = [f"  {name.ljust(width)} = {{{text}}}" for name, text in texts.items() if text]
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}"


_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_TEX |= {letter: f"\\{letter}" for letter in "{}&%$#_"}


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in " ".join(text.split()))
