"""Measures how often 95 % intervals hold the truth, by metric and number of problems: `make bench` or by itself.

`python -m benchmarks coverage --boards 2000 --seed 11 --every` prints each configuration too.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.coverage import estimator, ranks
from benchmarks.coverage.methods import METHODS
from benchmarks.coverage.worlds import Boards, Configuration, configurations
from benchmarks.figures import BenchFigure, show
from scoring.arrays import FloatArray

CLOSE = 1e-9
FEW_GAINS, LEAST_GAINS = "no gains", 2.0
"""The stratum of speedups where fewer problems than this gain on an average board, because of noise or failures: most
boards, and the truth, are about 1×."""


@dataclass(frozen=True)
class MethodResult:
    """Results of one method on one configuration: shares of boards whose interval holds the truth, mean width and
    bias."""

    words: str
    drawn: float
    fixed: float
    width: float
    bias: float
    """The figure's mean less that of the truth; the same for all methods."""


def measured(one: Configuration, boards: Boards, names: Sequence[str]) -> dict[str, MethodResult]:
    found = {}
    bias = float((boards.values.mean(axis=1) - boards.drawn).mean())
    for name in names:
        low, high = METHODS[name](boards, one.metric)
        drawn, fixed = (_held(low, high, truth) for truth in (boards.drawn, boards.fixed))
        found[name] = MethodResult(one.words, drawn, fixed, float((high - low).mean()), bias)
    return found


def _held(low: FloatArray, high: FloatArray, truth: FloatArray) -> float:
    return float(((low <= truth + CLOSE) & (truth - CLOSE <= high)).mean())


def simulate(options: argparse.Namespace, *, held_out: bool) -> dict[tuple[str, int], dict[str, list[MethodResult]]]:
    """The findings by stratum (metric and number of problems) and method."""
    strata: dict[tuple[str, int], dict[str, list[MethodResult]]] = defaultdict(lambda: defaultdict(list))
    names = list(METHODS) if options.compare else ["rules", "percentile"]
    for number, one in enumerate(configurations(held_out=held_out)):
        rng = np.random.default_rng([options.seed, number, held_out])
        boards = one.boards(rng, options.boards)
        for name, found in measured(one, boards, names).items():
            strata[_stratum(one, boards), one.problems][name].append(found)
    return strata


def _stratum(one: Configuration, boards: Boards) -> str:
    gains = float((boards.values > 0).sum(axis=1).mean())
    return FEW_GAINS if one.metric == "speedup" and gains < LEAST_GAINS else one.metric


def table(strata: dict[tuple[str, int], dict[str, list[MethodResult]]], *, every: bool) -> Iterable[str]:
    for (metric, problems), by_method in sorted(strata.items()):
        for name, found in by_method.items():
            drawn = [one.drawn for one in found]
            yield (
                f"{metric:8}{problems:4} problems  {name:11} drawn {100 * np.mean(drawn):6.1f} %"
                f" [{100 * min(drawn):5.1f}, {100 * max(drawn):5.1f}]"
                f"  fixed {100 * np.mean([one.fixed for one in found]):6.1f} %"
                f"  width {np.mean([one.width for one in found]):.3f}"
                f"  bias {np.mean([one.bias for one in found]):+.4f}  ({len(found)} configurations)"
            )
        if every:
            for one in by_method["rules"]:
                covers = f"{100 * one.drawn:5.1f} {100 * one.fixed:5.1f}"
                yield f"      {covers}  {one.width:.3f} {one.bias:+.4f}  {one.words}"


def figures(strata: dict[tuple[str, int], dict[str, list[MethodResult]]], kind: str) -> Iterable[BenchFigure]:
    """Figures with the limits of the rules: 95 ± 1.5 % from 8 problems on, 93.5 % from 5 on and for fixed problems."""
    for (metric, problems), by_method in sorted(strata.items()):
        if problems < 5:
            continue
        drawn, fixed = (100 * np.mean([getattr(one, of) for one in by_method["rules"]]) for of in ("drawn", "fixed"))
        name = f"{kind}: {metric} over {problems} problems"
        yield BenchFigure(f"{name} covers", float(drawn), "%", 93.5, "min")
        if problems >= 8 and metric != FEW_GAINS:
            yield BenchFigure(f"{name} covers", float(drawn), "%", 96.5, "max")
        yield BenchFigure(f"{name}, fixed, covers", float(fixed), "%", 93.5, "min")


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=200, help="simulated boards of each configuration")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compare", action="store_true", help="other methods too")
    parser.add_argument("--every", action="store_true", help="a line for each configuration")
    parser.add_argument("--only", choices=["intervals", "estimator", "ranks"])
    options = parser.parse_args(words)
    found: list[BenchFigure] = []
    if options.only in {None, "intervals"}:
        for kind in ("tuned", "held out"):
            strata = simulate(options, held_out=kind == "held out")
            print(f"{kind}:", *table(strata, every=options.every), sep="\n")
            found += figures(strata, kind)
    if options.only in {None, "estimator"}:
        found += estimator.run(options)
    if options.only in {None, "ranks"}:
        found += ranks.run(options)
    return 0 if show(found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
