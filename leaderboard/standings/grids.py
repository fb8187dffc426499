"""Entrants × problems arrays of stored aggregates. The worker keeps those of the boards that it ranked last."""

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from threading import Lock
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import TextField
from django.db.models.functions import Cast

from leaderboard.models import ProblemScore, ReleaseTrack, Submission
from scoring.arrays import IntArray
from scoring.fast_p import THRESHOLDS

SHOWN = ("n_unwitnessed", "n_provisional", "n_open_flags", "n_upheld_flags")
"""Counts that boards show and that no score uses."""
COUNTS = (
    "n_samples",
    "n_passed",
    *SHOWN,
    "n_pending",
    "n_unresolved",
    "n_skipped",
    "n_time_flagged",
    "n_timed",
    "n_held_out",
)
SUMS = (
    "ln_speedup_sum", "traffic_ln_sum", "correct_ln_sum", "ln_held_out_sum", "ln_public_sum", "best_ms", "best_speedup",
)  # fmt: skip
AGGREGATES = (*COUNTS, *SUMS, "fast_counts")
SAMPLE_COUNTS = ("n_samples", "n_passed", "n_pending", "n_unresolved", "n_skipped")
_ROWS = 5000
_FAST_TEXT = "fast_text"
_AS_TEXT = {"fast_counts": _FAST_TEXT}
MOST_KEPT = 4
"""Boards. One of 300 entrants and 600 problems takes 40 MB."""

Grids = Mapping[str, Any]
"""Arrays of entrants × problems by name of the aggregate; `fast_counts` has the thresholds as a third axis."""


@dataclass(frozen=True)
class _Kept:
    submission_ids: Sequence[int]
    problem_ids: Sequence[int]
    marks: Mapping[int, UUID | None]
    grids: Grids


class KeptGrids:
    """The arrays of the boards that this process ranked last. Only submissions that were scored since are read."""

    def __init__(self) -> None:
        self._boards: OrderedDict[int, _Kept] = OrderedDict()
        self._guard = Lock()

    def read(self, place: ReleaseTrack, submission_ids: Sequence[int], problem_ids: Sequence[int]) -> Grids:
        """Returns the arrays of `read`, write-protected."""
        # Asked before the aggregates: those may be newer than the marks, never older.
        scored = Submission.objects.filter(pk__in=submission_ids).exclude(scored_mark=None)
        marks = dict(scored.values_list("pk", "scored_mark"))
        with self._guard:
            before = self._boards.pop(place.pk, None)
        row_of: dict[int, int] = {}
        if before is not None and before.problem_ids == problem_ids:
            ids = enumerate(before.submission_ids)
            row_of = {pk: row for row, pk in ids if pk in marks and marks[pk] == before.marks.get(pk)}
        stale = [pk for pk in submission_ids if pk not in row_of]
        grids = dict(read(stale, place.track_id, problem_ids))
        if before is not None and row_of:
            row_of |= {pk: row for row, pk in enumerate(stale, len(before.submission_ids))}
            rows = [row_of[pk] for pk in submission_ids]
            grids = {name: np.concatenate([before.grids[name], grids[name]])[rows] for name in grids}
        for values in grids.values():
            values.flags.writeable = False
        with self._guard:
            self._boards[place.pk] = _Kept(list(submission_ids), list(problem_ids), marks, grids)
            while len(self._boards) > MOST_KEPT:
                self._boards.popitem(last=False)
        return grids


def read(
    submission_ids: Sequence[int], track_id: int, problem_ids: Sequence[int], instead: Iterable[ProblemScore] = (),
    names: Sequence[str] = AGGREGATES,
) -> Grids:  # fmt: skip
    """Entrants × problems arrays of these stored counts and sums. A missing row is zero (NaN for times)."""
    grids = _empty_grids((len(submission_ids), len(problem_ids)), names)
    row_of = {pk: n for n, pk in enumerate(submission_ids)}
    column_of = {pk: n for n, pk in enumerate(problem_ids)}
    stored = ProblemScore.objects.filter(submission_id__in=submission_ids, track_id=track_id)
    stored = stored.annotate(fast_text=Cast("fast_counts", TextField()))
    keys = ("submission_id", "problem_id", *(_AS_TEXT.get(name, name) for name in names))
    replaced = [_values_of(one, keys) for one in instead]
    every = chain(stored.values_list(*keys).iterator(_ROWS), replaced)  # the replaced ones last: they hold
    rows = (row for row in every if row[1] in column_of)  # others are sealed questions
    while some := list(islice(rows, _ROWS)):
        submissions, problems, *columns = zip(*some, strict=True)
        place = [row_of[pk] for pk in submissions], [column_of[pk] for pk in problems]
        for name, values in zip(names, columns, strict=True):
            column = _lists(values) if name in _AS_TEXT else values
            grids[name][place] = np.array(column, dtype=grids[name].dtype)  # None becomes NaN
    return grids


def _values_of(one: ProblemScore, keys: Sequence[str]) -> tuple[Any, ...]:
    return tuple(json.dumps(one.fast_counts) if name == _FAST_TEXT else getattr(one, name) for name in keys)


def _lists(texts: Sequence[str]) -> IntArray:
    """JSON lists of counts as rows. Few differ, and reading each by itself was a third of the time of a ranking."""
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    rows: IntArray = np.array([json.loads(text) for text in places], dtype=np.int64)
    return rows[[places[text] for text in texts]]


def _empty_grids(shape: tuple[int, int], names: Sequence[str]) -> dict[str, Any]:
    grids: dict[str, Any] = {}
    for name in names:
        if name in SUMS:
            grids[name] = np.full(shape, np.nan if name in {"best_ms", "best_speedup"} else 0.0)
        else:
            whole = (*shape, len(THRESHOLDS)) if name == "fast_counts" else shape
            grids[name] = np.zeros(whole, dtype=np.int64)
    return grids
