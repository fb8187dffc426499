"""Paired differences in the metric that ranks: many entrants of a board against one of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import numpy as np

from leaderboard.boards.compare import against_first, counting, drawn, most_of, ranking_values
from leaderboard.models import ReleaseTrack
from leaderboard.standings import rank
from scoring.computed import Scored
from scoring.metrics import Metric, metric_named
from scoring.paired import DrawnPairs, PairedDifference
from scoring.pass_at_k import pass_at_k


@dataclass(frozen=True)
class RankedDifferences:
    """One difference for each other entrant, on the scale on which the metric is averaged."""

    metric: Metric
    found: Sequence[PairedDifference]


def differences(place: ReleaseTrack, reference_id: int, other_ids: Sequence[int], draws: int) -> RankedDifferences:
    """Each other entrant less the reference in the metric that ranks, over the problems that count for both.

    A process keeps the last results until the board's counts change: every change sets `touched_at`. A fixed number of
    queries, or none if the result is kept.
    """
    if place.touched_at is None:
        return _computed(place, reference_id, tuple(other_ids), drawn(place, draws))
    return _kept(place, place.touched_at, drawn(place, draws), reference_id, tuple(other_ids))


@lru_cache(maxsize=64)
def _kept(
    place: ReleaseTrack, touched_at: datetime, board: DrawnPairs, reference_id: int, other_ids: tuple[int, ...]
) -> RankedDifferences:
    del touched_at  # it is part of the key
    return _computed(place, reference_id, other_ids, board)


def _computed(
    place: ReleaseTrack, reference_id: int, other_ids: tuple[int, ...], board: DrawnPairs
) -> RankedDifferences:
    metric = metric_named(place.release.primary_metric)
    entrant_ids = [reference_id, *other_ids]
    if metric.k and not rank.waits_for_questions(place.release):
        given = rank.load_samples(place, entrant_ids)
        enough = counting(given) & (given.n >= metric.k)
        scored = Scored(pass_at_k(given.n, given.passed, metric.k), enough)
    else:
        loaded = rank.load(place, entrant_ids)
        metric, scored = ranking_values(loaded.input)
        scored = _in_order(scored, [one.entrant_id for one in loaded.counted], entrant_ids)
    return RankedDifferences(metric, against_first(scored, most_of(metric), board))


def _in_order(scored: Scored, found: Sequence[int], wanted: Sequence[int]) -> Scored:
    """The rows of the wanted entrants; one that was not found has no problem that counts."""
    place = {entrant_id: n for n, entrant_id in enumerate(found)}
    rows = [place.get(entrant_id, -1) for entrant_id in wanted]
    weights = np.where(np.array(rows)[:, None] < 0, 0.0, scored.weights[rows] if len(found) else 0.0)
    return Scored(scored.values[rows] if len(found) else np.zeros(weights.shape), weights)
