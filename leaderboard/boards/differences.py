"""Paired differences of pass@1: many entrants of a board against one of them, as the comparison computes them."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from leaderboard.boards.compare import counting, drawn
from leaderboard.models import ReleaseTrack
from leaderboard.standings import rank
from scoring.paired import DrawnPairs, PairedDifference, paired_differences
from scoring.pass_at_k import pass_at_k


def differences(
    place: ReleaseTrack, reference_id: int, other_ids: Sequence[int], draws: int
) -> Sequence[PairedDifference]:
    """Each other entrant's pass@1 less the reference's, over the problems that count for both.

    A process keeps the last results until the board's counts change: every change sets `touched_at`. Four queries, or
    none if the result is kept.
    """
    if place.touched_at is None:
        return _computed(place, reference_id, tuple(other_ids), drawn(place, draws))
    return _kept(place, place.touched_at, drawn(place, draws), reference_id, tuple(other_ids))


@lru_cache(maxsize=64)
def _kept(
    place: ReleaseTrack, touched_at: datetime, board: DrawnPairs, reference_id: int, other_ids: tuple[int, ...]
) -> Sequence[PairedDifference]:
    del touched_at  # it is part of the key
    return _computed(place, reference_id, other_ids, board)


def _computed(
    place: ReleaseTrack, reference_id: int, other_ids: tuple[int, ...], board: DrawnPairs
) -> Sequence[PairedDifference]:
    given = rank.load_samples(place, [reference_id, *other_ids])
    passes, counted = pass_at_k(given.n, given.passed, 1), counting(given)
    both = counted[1:] & counted[0]
    return paired_differences(passes[1:], passes[0], both, board, most=1.0)
