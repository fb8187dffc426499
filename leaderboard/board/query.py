"""What a visitor asks of a board, read from the URL and written back to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from leaderboard.models import Track
from problems.models import Release

ALL_GROUPS = "*"
_OPENNESS = ("open", "proprietary")


@dataclass(frozen=True)
class BoardQuery:
    """Track, k and group choose what is shown; the filters choose which rows; `sort` is a column, `-`: falling."""

    track: str = ""
    k: int = 1
    group: str = ""
    search: str = ""
    organisation: str = ""
    openness: str = ""
    verified: bool = False
    hide_baselines: bool = False
    sort: str = ""
    page: int = 1

    def url(self, **changes: Any) -> str:
        """`?…` for this query with some of it changed; what is at its default is left out."""
        other = replace(self, **changes)
        default = BoardQuery()
        fields = {
            "track": other.track, "k": other.k, "group": other.group, "q": other.search,
            "org": other.organisation, "weights": other.openness, "sort": other.sort,
        }  # fmt: skip
        shown = {name: value for name, value in fields.items() if value not in ("", default.k if name == "k" else "")}
        for name, on in (("verified", other.verified), ("nobase", other.hide_baselines)):
            if on:
                shown[name] = "1"
        if other.page != 1:
            shown["page"] = other.page
        return "?" + urlencode(shown)

    @property
    def is_filtered(self) -> bool:
        return bool(self.search or self.organisation or self.openness or self.verified)


def parse(
    parameters: Mapping[str, str], release: Release, tracks: Sequence[Track], groups: Sequence[str]
) -> BoardQuery:
    """Read the URL's words; whatever does not exist falls back to the default, so that old links keep working."""
    slugs = [track.slug for track in tracks]
    track, group = parameters.get("track", ""), parameters.get("group", "")
    openness = parameters.get("weights", "")
    return BoardQuery(
        track=track if track in slugs else (slugs[0] if slugs else ""),
        k=_chosen_k(parameters.get("k", ""), release.offered_ks),
        group=group if group in (*groups, ALL_GROUPS) else "",
        search=parameters.get("q", "").strip()[:100],
        organisation=parameters.get("org", "")[:150],
        openness=openness if openness in _OPENNESS else "",
        verified=parameters.get("verified", "") == "1",
        hide_baselines=parameters.get("nobase", "") == "1",
        sort=parameters.get("sort", "")[:80],
        page=_whole(parameters.get("page", ""), 1),
    )


def _chosen_k(text: str, ks: Sequence[int]) -> int:
    """The k asked for if the release has it, else its smallest above 1."""
    asked = _whole(text, 0)
    if asked in ks:
        return asked
    return min((k for k in ks if k > 1), default=1)


def _whole(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and 0 < int(text) < 10**6 else default
