"""The board that leads the front page, and the facts that a visitor wants first."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.models import F, QuerySet

from leaderboard import visibility
from leaderboard.boards.columns import Column
from leaderboard.models import ReleaseTrack, Standing, Track
from leaderboard.results.measured import last_day_of
from problems.models import Problem, Release

_SHOWN = ("pass@1", "solved", "date")
"""Columns beside that of the primary metric: the board itself has the others."""


def lead_of(user: Any) -> ReleaseTrack | None:
    """The board that an organiser chose, else the largest GPU board, else the largest; None where there are no results.

    Of boards with as many entrants the newest leads. A user is led to no board without results that they may see. One
    query.
    """
    places = list(visibility.places_with_visible_results(user).order_by(F("release__published_at").desc(), "-pk"))
    return max(places, key=_weight, default=None)


def _weight(place: Any) -> tuple[bool, bool, int]:
    """Compared part by part; of equal ones `max` keeps the first, the newest."""
    return place.on_front_page, place.track.device == "gpu", place.n_entrants


def lead_columns(columns: Sequence[Column], primary: str) -> list[Column]:
    """The primary metric first, then the few that a front page has room for."""
    by_key = {one.key: one for one in columns}
    keys = dict.fromkeys((primary, *_SHOWN))
    return [by_key[key] for key in keys if key in by_key]


def hardware_of(track: Track | None) -> str:
    """The track's hardware as its model is called, else its title."""
    return (track.hardware_name or track.title or track.slug) if track else ""


def last_day(standings: QuerySet[Standing]) -> str:
    """The last day (UTC) on which a counted result of these rows was measured; empty if none says. One query."""
    rows = standings.values_list("submission__measured_where", "submission__finished_at")
    return max((_day(where, finished) for where, finished in rows), default="")


def _day(measured_where: Mapping[str, Any] | None, finished: datetime | None) -> str:
    if measured_where is not None:
        return last_day_of(measured_where)
    return f"{finished.astimezone(UTC):%Y-%m-%d}" if finished else ""


def open_problem(user: Any, release: Release) -> Problem | None:
    """The first problem of the release that the user may read and submit to now. At most two queries."""
    if release.why_closed() or not visibility.may_see_statements(user, release):
        return None
    found = release.problems.filter(do_not_release=False).only("slug", "title", "release").order_by("position").first()
    if found:
        found.release = release
    return found
