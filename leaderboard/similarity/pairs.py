"""Pairs of similar fingerprints of one problem, found without comparing each with each."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from leaderboard.similarity.fingerprints import Hashes, similarity

SIMILAR = 0.6
"""Pairs from here on are shown. Independent solutions of the example releases have at most 0.38."""
LEAST_HASHES = 24
"""Shorter code says too little: two people write the same three lines."""
KEYS = 8
"""A pair of similarity s has none of its smallest hashes in common with a chance of at most (1 - s) ** KEYS."""
MAX_GROUP = 64
"""Fingerprints with the same key that are compared with each other; more are the same idiom, or a copied crowd."""


@dataclass(frozen=True)
class Sketch:
    sample_id: int
    entrant_id: int
    hashes: Hashes


@dataclass(frozen=True)
class SimilarPair:
    """`one` belongs to the entrant with the smaller id."""

    one: Sketch
    other: Sketch
    similarity: float


def similar_pairs(sketches: Sequence[Sketch], new: Set[int]) -> list[SimilarPair]:
    """The most similar pair of each two entrants, of which at least one sample is `new`; the most similar first."""
    best: dict[tuple[int, int], SimilarPair] = {}
    for one, other in _candidates(sketches, new):
        first, second = sorted((one, other), key=lambda sketch: sketch.entrant_id)
        share, place = similarity(one.hashes, other.hashes), (first.entrant_id, second.entrant_id)
        if share >= SIMILAR and (place not in best or share > best[place].similarity):
            best[place] = SimilarPair(first, second, share)
    return sorted(best.values(), key=lambda found: -found.similarity)


def _candidates(sketches: Sequence[Sketch], new: Set[int]) -> Iterator[tuple[Sketch, Sketch]]:
    """Pairs of different entrants with a key in common, each once."""
    seen: set[tuple[int, int]] = set()
    for group in _groups(sketches).values():
        for one in (sketch for sketch in group if sketch.sample_id in new):
            for other in group:
                place = (min(one.sample_id, other.sample_id), max(one.sample_id, other.sample_id))
                if one.entrant_id != other.entrant_id and place not in seen:
                    seen.add(place)
                    yield one, other


def _groups(sketches: Sequence[Sketch]) -> Mapping[int, list[Sketch]]:
    groups: dict[int, list[Sketch]] = {}
    for sketch in sketches:
        for key in sketch.hashes[:KEYS].tolist():
            group = groups.setdefault(key, [])
            if len(group) < MAX_GROUP:
                group.append(sketch)
    return groups
