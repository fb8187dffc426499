"""How many boards call an entrant surely better or worse than one that is not, for all pairs at once."""

import argparse
from collections.abc import Iterable
from itertools import product

import numpy as np

from benchmarks.figures import BenchFigure
from scoring.arrays import IntArray
from scoring.bootstrap import bootstrap_mean, rank_by_draws
from scoring.ranking import FAMILY_LEVEL, Ranks, rank_entrants
from scoring.uncertainty import means

LOSS = 3.0
"""Standard deviations by which a share of wrong boards may exceed the level by chance."""


def run(options: argparse.Namespace) -> Iterable[BenchFigure]:
    found = []
    for entrants, problems, samples, kind in product((10, 50, 200), (5, 8, 25, 100), (1, 10), ("equal", "unequal")):
        boards = max(40, options.boards // entrants)
        rng = np.random.default_rng([options.seed, 5, entrants, problems, samples])
        wrong, wrong_before, named = (np.mean(one) for one in zip(*(
            _board(rng, entrants, problems, samples, unequal=kind == "unequal") for _ in range(boards)
        ), strict=True))  # fmt: skip
        words = f"ranks of {entrants} {kind} entrants over {problems} problems × {samples}"
        level = 100 * (FAMILY_LEVEL + LOSS * np.sqrt(FAMILY_LEVEL / boards))
        found.append(BenchFigure(f"{words}: boards with a wrong call", 100 * float(wrong), "%", float(level), "max"))
        print(
            f"{words}: {100 * wrong:5.1f} % of {boards} boards have a wrong call (first rules {100 * wrong_before:5.1f}"
            f" %); {100 * named:5.1f} % of pairs are told apart"
        )
    return found


def _board(
    rng: np.random.Generator, entrants: int, problems: int, samples: int, *, unequal: bool
) -> tuple[bool, bool, float]:
    """Whether a call was wrong by these rules and by the first, and the share of pairs that these tell apart."""
    skill = np.sort(rng.normal(size=entrants))[::-1] if unequal else np.zeros(entrants)
    difficulty = 1.5 * rng.normal(size=problems)
    own = 0.7 * rng.normal(size=(entrants, problems))
    chance = 1 / (1 + np.exp(difficulty - skill[:, None] - own))
    values = rng.binomial(samples, chance) / samples
    everyone, weights = np.ones(entrants, dtype=np.bool_), np.ones_like(values)
    by_rules = rank_entrants(means(values, weights), everyone, 1e-9)
    by_draws = rank_by_draws(bootstrap_mean(values, weights, "coverage", 1000), everyone, 1e-9)
    true_rank = np.arange(1, entrants + 1) if unequal else np.ones(entrants, dtype=np.int64)
    worst = true_rank if unequal else np.full(entrants, entrants)
    apart = (by_rules.low - 1 + entrants - by_rules.high).sum() / (entrants * (entrants - 1))
    return _wrong(by_rules, true_rank, worst), _wrong(by_draws, true_rank, worst), float(apart)


def _wrong(found: Ranks, best: IntArray, worst: IntArray) -> bool:
    """Whether an interval does not hold the ranks that the entrant truly has."""
    return bool(((found.low > best) | (found.high < worst))[found.low > 0].any())
