"""A board ranked over some of its problems, or as of a day: the same scoring, from stored arrays, results kept."""

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from datetime import date
from threading import Lock
from typing import Any

import numpy as np

from leaderboard.errors import Unavailable
from leaderboard.models import RankedArrays, ReleaseTrack, Standing
from leaderboard.standings import history, rank
from leaderboard.standings.board_arrays import BoardArrays, PackedBoard, unpack
from leaderboard.standings.history import BoardTooLarge
from leaderboard.standings.selection import tell_selection
from problems.sealing import told_problems
from scoring.board import MetricMissing

_KEYS = {"id", "release", "track", "entrant", "submission", "updated_at"}
FIGURES = tuple(field.name for field in Standing._meta.concrete_fields if field.name not in _KEYS)
"""The fields of a standing that ranking computes."""
_MOST_RESULTS, _MOST_PACKED = 12, 2
"""Limits of a process's cache: a result of 1,000 entrants takes about 5 MB, their packed arrays about 30 MB."""


@dataclass(frozen=True)
class Ranked:
    """The rows of a board that is not the stored one."""

    figures: Mapping[int, Mapping[str, Any]]
    """Figures of rows by submission id and field of Standing."""
    n_problems: int
    why_not: str = ""
    """The reason why the board cannot be ranked; it then has no rows."""


class _Kept:
    """The values used last. Safe for threads."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._values: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable) -> Any:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: Any) -> None:
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._most:
                self._values.popitem(last=False)


_results, _packed = _Kept(_MOST_RESULTS), _Kept(_MOST_PACKED)
_computing = Lock()
"""One at a time in a process: visitors who ask for the same subset at once wait for the first."""
_PATIENCE_S = 5.0
"""Seconds that a request waits for others' rankings, so that many of them cannot occupy every thread for long."""


def rank_again(place: ReleaseTrack, problem_ids: frozenset[int] | None, day: date | None) -> Ranked:
    """Rank the board over these problems (None: all) as of the end of the day (None: of its last ranking).

    Raises Unavailable while other boards are being ranked.
    """
    made_at = RankedArrays.objects.filter(place=place).values_list("made_at", flat=True).first()
    freshness = place.touched_at if day or made_at is None else None
    key = (place.pk, made_at, freshness, problem_ids, day)
    kept: Ranked | None = _results.get(key)
    return kept or _computed_once(key, place, problem_ids, day)


def _computed_once(key: Hashable, place: ReleaseTrack, problem_ids: frozenset[int] | None, day: date | None) -> Ranked:
    if not _computing.acquire(timeout=_PATIENCE_S):
        raise Unavailable("ranking_others", "The site is ranking other boards just now. Ask again in a few seconds.")
    try:
        kept: Ranked | None = _results.get(key)  # another thread may have computed it meanwhile
        if kept is None:
            kept = _computed(place, problem_ids, day)
            _results.put(key, kept)
        return kept
    finally:
        _computing.release()


def _computed(place: ReleaseTrack, problem_ids: frozenset[int] | None, day: date | None) -> Ranked:
    n_problems = len(problem_ids) if problem_ids is not None else told_problems(place.release).count()
    if not n_problems:
        return Ranked({}, 0, "No problem fits all of these filters.")
    try:
        ranked = rank.standings_of(_board(place, problem_ids, day))
        rows = tell_selection(place, ranked, history.end_of(day) if day else None, is_whole=problem_ids is None)
    except BoardTooLarge as refused:
        return Ranked({}, n_problems, str(refused))
    except MetricMissing:
        return _lacks_metric(place, n_problems)
    complete = [row for row in rows if not row.is_incomplete]
    if complete and all(row.primary_value is None for row in complete):
        return _lacks_metric(place, n_problems)
    figures = {row.submission_id: {name: getattr(row, name) for name in FIGURES} for row in rows}
    return Ranked(figures, n_problems)


def _lacks_metric(place: ReleaseTrack, n_problems: int) -> Ranked:
    metric = place.release.primary_metric
    return Ranked({}, n_problems, f"These problems lack what {metric} needs, by which the release ranks.")


def _board(place: ReleaseTrack, problem_ids: frozenset[int] | None, day: date | None) -> BoardArrays:
    stored = _unpacked(place)
    if day is not None:
        board = history.board_at(place, day, stored)
        return board if problem_ids is None else _some_problems(place, board, problem_ids)
    if stored is None:
        board = rank.load(place)
        return board if problem_ids is None else _some_problems(place, board, problem_ids)
    chosen = np.array([problem_ids is None or pk in problem_ids for pk in stored.problem_ids], dtype=np.bool_)
    return stored.over(place, chosen, stored.arrays["voided"])


def _some_problems(place: ReleaseTrack, board: BoardArrays, problem_ids: frozenset[int]) -> BoardArrays:
    chosen = np.array([pk in problem_ids for pk in board.problem_ids], dtype=np.bool_)
    return PackedBoard.of(board).over(place, chosen, board.input.voided)


def _unpacked(place: ReleaseTrack) -> PackedBoard | None:
    """The arrays of the last ranking; None if there was none."""
    newest = RankedArrays.objects.filter(place=place).values_list("pk", "made_at").first()
    if newest is None:
        return None
    if (kept := _packed.get(newest)) is None:
        row = RankedArrays.objects.get(pk=newest[0])
        kept = unpack(bytes(row.content))
        _packed.put((row.pk, row.made_at), kept)
    packed: PackedBoard = kept
    return packed
