"""A visitor's query of a board, read from the URL and written back to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from leaderboard.boards.problem_choice import ALL_PROBLEMS, ProblemChoice, ReleaseProblems
from leaderboard.models import Track
from problems.models import Release
from scoring.metrics import PASS_AT_1

ALL_GROUPS = "*"
OPENNESS = ("open", "proprietary")
_MOST_VALUES = 200
"""Limit of the values of one parameter that a URL may repeat."""


@dataclass(frozen=True)
class BoardQuery:
    """Track, k, group, choice and day choose what is ranked and shown; the filters choose which rows.

    `sort` is a column, `-`: falling. `hidden` are keys of columns, `expanded` is the slug of the row that is open.
    """

    track: str = ""
    ranked_by: str = PASS_AT_1.name
    """The name of the release's primary metric."""
    k: int = 1
    default_k: int = 1
    """The k of a URL without one."""
    group: str = ""
    choice: ProblemChoice = ALL_PROBLEMS
    as_of: date | None = None
    search: str = ""
    organisation: str = ""
    openness: str = ""
    verified: bool = False
    hide_baselines: bool = False
    hidden: tuple[str, ...] = ()
    theirs: bool = False
    """Whether other benchmarks' scores are shown too."""
    sort: str = ""
    page: int = 1
    expanded: str = ""
    questions_from: datetime | None = None
    """When figures that rest on questions are shown; None if they are."""

    def url(self, **changes: Any) -> str:
        """`?…` for this query with some of it changed; what is at its default is left out."""
        other = replace(self, **changes)
        day = other.as_of.isoformat() if other.as_of else ""
        fields = [
            ("track", other.track), ("k", "" if other.k == other.default_k == 1 else other.k), ("group", other.group),
            *(("groups", value) for value in other.choice.groups), *(("tags", value) for value in other.choice.tags),
            *(("difficulty", value) for value in other.choice.difficulties), ("as_of", day),
            ("q", other.search), ("org", other.organisation), ("weights", other.openness),
            *(("hide", key) for key in other.hidden), ("theirs", "1" if other.theirs else ""), ("sort", other.sort),
            ("verified", "1" if other.verified else ""), ("nobase", "1" if other.hide_baselines else ""),
            ("page", "" if other.page == 1 else other.page), ("open", other.expanded),
        ]  # fmt: skip
        return "?" + urlencode([(name, value) for name, value in fields if value != ""])

    def cited(self, day: date) -> "BoardQuery":
        """The query of the same ranking as of the day: without filters of rows, sort, hidden columns and pages."""
        return BoardQuery(
            self.track, self.ranked_by, self.k, self.default_k, group=self.group, choice=self.choice, as_of=day
        )

    @property
    def is_narrowed(self) -> bool:
        """Whether the form above the board has a choice."""
        return bool(self.is_filtered or self.choice or self.as_of or self.hidden or self.group or self.hide_baselines)

    @property
    def is_filtered(self) -> bool:
        return bool(self.search or self.organisation or self.openness or self.verified)


def parse(parameters: QueryDict, release: Release, tracks: Sequence[Track], problems: ReleaseProblems) -> BoardQuery:
    """Read the URL's words. `leaderboard.boards.asked` refuses values that do not exist; unknown names are dropped."""
    slugs = [track.slug for track in tracks]
    return BoardQuery(
        track=parameters.get("track", "") or (slugs[0] if slugs else ""),
        ranked_by=release.primary_metric,
        k=_chosen_k(parameters.get("k", ""), release.offered_ks),
        default_k=_chosen_k("", release.offered_ks),
        group=parameters.get("group", ""),
        choice=problems.asked(_lists(parameters)),
        as_of=_day(parameters),
        search=parameters.get("q", "").strip()[:100],
        organisation=parameters.get("org", "")[:150],
        openness=parameters.get("weights", ""),
        verified=parameters.get("verified", "") == "1",
        hide_baselines=parameters.get("nobase", "") == "1",
        hidden=tuple(dict.fromkeys(_list(parameters, "hide"))),
        theirs=parameters.get("theirs", "") == "1",
        sort=parameters.get("sort", ""),
        page=_whole(parameters.get("page", ""), 1),
        expanded=parameters.get("open", "")[:100],
        questions_from=release.reveals_at if release.questions_are_sealed else None,
    )


def _lists(parameters: QueryDict) -> Mapping[str, Sequence[str]]:
    return {name: _list(parameters, name) for name in ("groups", "tags", "difficulty")}


def _list(parameters: QueryDict, name: str) -> list[str]:
    return [str(value) for value in parameters.getlist(name)[:_MOST_VALUES]]


def why_no_day(parameters: Mapping[str, Any]) -> str:
    """Returns the reason why `as_of` cannot be shown; empty where it can or is absent."""
    asked = str(parameters.get("as_of", "")).strip()[:40]
    if not asked:
        return ""
    day = _day(parameters)
    if day is None:
        return f"“{asked}” is not a date. Write the day as YYYY-MM-DD, for example {datetime.now(UTC):%Y-%m-%d}."
    return f"{day} is in the future." if day > datetime.now(UTC).date() else ""


def _day(parameters: Mapping[str, Any]) -> date | None:
    try:
        return date.fromisoformat(str(parameters.get("as_of", "")).strip())
    except ValueError:
        return None


def _chosen_k(text: str, ks: Sequence[int]) -> int:
    """The k asked for if the release has it, else its smallest above 1."""
    asked = _whole(text, 0)
    if asked in ks:
        return asked
    return min((k for k in ks if k > 1), default=1)


def _whole(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and 0 < int(text) < 10**6 else default
