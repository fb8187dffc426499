"""Refuses an address of a board whose known parameters have values that do not exist: it would show another board."""

from collections.abc import Iterator, Sequence

from django.http import QueryDict

from leaderboard.boards.columns import keys_of
from leaderboard.boards.problem_choice import ReleaseProblems, unknown
from leaderboard.boards.query import ALL_GROUPS, OPENNESS, why_no_day
from leaderboard.errors import BadQuery, refuse_unknown
from leaderboard.models import Track
from problems.models import Release

_TICKS = ("verified", "nobase", "theirs")


def check(parameters: QueryDict, release: Release, tracks: Sequence[Track], problems: ReleaseProblems) -> None:
    """Raises BadQuery. An empty value stands for the default, as a form sends it."""
    for name, values, known in _choices(parameters, release, tracks, problems):
        for value in values:
            refuse_unknown(name, value, known)
    if reason := why_no_day(parameters):
        raise BadQuery("as_of", reason)
    page = parameters.get("page", "")
    if page and not (page.isascii() and page.isdigit() and 0 < len(page) < 7 and int(page)):
        raise BadQuery("page", "A page is a whole number from 1.")


def _choices(
    parameters: QueryDict, release: Release, tracks: Sequence[Track], problems: ReleaseProblems
) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    """(parameter, values asked for, values that exist)."""
    yield "track", parameters.getlist("track"), [track.slug for track in tracks]
    yield "k", parameters.getlist("k"), [str(k) for k in release.offered_ks]
    yield "group", parameters.getlist("group"), [*problems.groups, ALL_GROUPS]
    yield "weights", parameters.getlist("weights"), OPENNESS
    for name in _TICKS:
        yield name, parameters.getlist(name), ["1"]
    of_problems = {"groups": problems.groups, "tags": problems.tags, "difficulty": problems.difficulties}
    for name, known in of_problems.items():
        yield name, unknown(parameters.getlist(name), known), known
    keys = keys_of(release.offered_ks, problems.groups)
    yield "hide", parameters.getlist("hide"), keys
    yield "sort", [value.removeprefix("-") for value in parameters.getlist("sort")], ["rank", "model", *keys]
