"""Computes ranks and the intervals of ranks that paired differences allow. Ties share a rank."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scoring.arrays import BoolArray, FloatArray, IntArray
from scoring.uncertainty import Bootstrap, tail_draws

PlaceArray = npt.NDArray[np.unsignedinteger[Any]]
BYTES_AT_ONCE = 8


class Ranks(NamedTuple):
    """Rank and interval of ranks of each entrant (E); 0 if the entrant is not ranked."""

    rank: IntArray
    low: IntArray
    high: IntArray


def ranks_with_ties(scores: FloatArray, tolerance: float) -> IntArray:
    """The rank of each score: 1 + the number of scores that are higher by more than `tolerance`.

    Higher is better. All scores must be finite.
    """
    ordered = np.sort(scores)
    return scores.size - np.searchsorted(ordered, scores + tolerance, side="right") + 1


def rank_entrants(bootstrap: Bootstrap, ranked: BoolArray, tolerance: float) -> Ranks:
    """Rank the entrants in `ranked` (E) that have a mean by `bootstrap.mean`. The others get 0.

    The interval runs from 1 + the number of entrants that are surely better to the number that are not surely worse.
    "Surely" means that the paired 95 % interval of the difference, over the draws that both share, excludes 0.
    """
    chosen = ranked & np.isfinite(bootstrap.mean)
    rank = ranks_with_ties(bootstrap.mean[chosen], tolerance)
    better, worse = _surely(np.compress(chosen, bootstrap.draws, axis=0), bootstrap.problems[chosen])
    low, high = np.minimum(1 + better, rank), np.maximum(rank.size - worse, rank)
    return Ranks(_spread(rank, chosen), _spread(low, chosen), _spread(high, chosen))


def _surely(draws: FloatArray, problems: IntArray) -> tuple[IntArray, IntArray]:
    """The numbers of entrants that are surely better and surely worse than each; 0 with fewer than two problems."""
    entrants, count = draws.shape
    better, worse = np.zeros(entrants, dtype=np.int64), np.zeros(entrants, dtype=np.int64)
    enough, places = problems >= 2, _places(draws)
    needed = count - tail_draws(count)
    for entrant in np.flatnonzero(enough):
        beaten = (_wins(places[entrant], places) >= needed) & enough
        worse[entrant] = beaten.sum()
        better += beaten
    return better, worse


def _places(draws: FloatArray) -> PlaceArray:
    """Each entrant's dense place in each draw, from 0; ties share a place. The draws are padded with 0 to whole words.

    Small integers compare several times as fast as floats. All entrants tie in a padded draw, so no entrant wins it.
    """
    entrants, count = draws.shape
    places = np.zeros((entrants, -(-count // BYTES_AT_ONCE) * BYTES_AT_ONCE), dtype=np.uint32)
    order = np.argsort(draws, axis=0)
    ordered = np.take_along_axis(draws, order, axis=0)
    ties = (ordered[1:] == ordered[:-1]) | np.isnan(ordered[:-1])  # NaN comes last
    steps = np.concatenate([np.zeros((min(entrants, 1), count), dtype=bool), ~ties])
    np.put_along_axis(places[:, :count], order, np.cumsum(steps, axis=0, dtype=np.uint32), axis=0)
    return places.astype(np.uint16) if entrants < 2**16 else places


def _wins(one: PlaceArray, all_places: PlaceArray) -> IntArray:
    """The number of draws in which `one` (D) lies above each of `all_places` (E × D)."""
    above = (one > all_places).view(np.uint64)
    return np.asarray(np.bitwise_count(above).sum(axis=1, dtype=np.int64))


def _spread(values: IntArray, chosen: BoolArray) -> IntArray:
    spread = np.zeros(chosen.size, dtype=np.int64)
    spread[chosen] = values
    return spread
