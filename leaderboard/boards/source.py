"""Chooses where a board's rows come from: the stored ranking, or one made for the problems and the day asked for."""

from dataclasses import dataclass
from typing import Any

from leaderboard import visibility
from leaderboard.boards.problem_choice import ReleaseProblems
from leaderboard.boards.query import BoardQuery
from leaderboard.boards.ranked_again import rank_again
from leaderboard.boards.table import CHOSEN_AT, RankedRows, Rows, StoredRows
from leaderboard.models import ReleaseTrack
from leaderboard.standings.count import chosen_at
from leaderboard.standings.history import end_of
from problems.models import Release


@dataclass(frozen=True)
class BoardSource:
    """`place` is None where the release is not offered on the track."""

    place: ReleaseTrack | None
    rows: Rows
    n_problems: int
    """Over which the board is ranked."""
    n_all: int
    why_not: str = ""
    """The reason why there is no such ranking; there are no rows then."""

    @property
    def is_part(self) -> bool:
        return self.n_problems < self.n_all


def source_of(user: Any, release: Release, query: BoardQuery, problems: ReleaseProblems) -> BoardSource:
    """The rows that the user may see. One query, and two more for a ranking of its own."""
    place = ReleaseTrack.objects.filter(release=release, track__slug=query.track).select_related("track").first()
    chosen, n_all = problems.chosen(query.choice), len(problems.all)
    if place is None or (len(chosen) == n_all and query.as_of is None):
        standings = visibility.visible_standings(user, release).filter(track__slug=query.track)
        return BoardSource(place, StoredRows(standings), n_all, n_all)
    place.release = release
    ranked = rank_again(place, chosen if len(chosen) < n_all else None, query.as_of)
    end = end_of(query.as_of) if query.as_of else None
    dated = {CHOSEN_AT: chosen_at("pk", place.track_id, end)}
    rows = RankedRows(visibility.visible_board_submissions(user, release).annotate(**dated), ranked)
    return BoardSource(place, rows, ranked.n_problems, n_all, ranked.why_not)
