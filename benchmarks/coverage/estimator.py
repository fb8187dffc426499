"""The speedup's rule on samples whose true speedup is known: its bias beside half of the interval's arm."""

import argparse
from collections.abc import Iterable

import numpy as np

from benchmarks.coverage.worlds import Noise, Rng, counted
from benchmarks.figures import BenchFigure
from scoring.arrays import FloatArray
from scoring.uncertainty import bounded, mean_interval, means

NOISES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
BOARDS = ((8, 1), (8, 3), (36, 3), (100, 3))
TRUE = {"own code": (0.0, 0.0), "1.05×": (0.05, 0.0), "1.2×": (0.18, 0.0), "0.7×": (-0.36, 0.0), "mixed": (0.2, 0.5)}
"""Mean and standard deviation over problems of the true ln speedup."""


def _clamped(rng: Rng, ln_speedup: FloatArray, noise: Noise) -> FloatArray:
    """The first rules: ln max(1, s) of the medians' ratio."""
    noisy: FloatArray = ln_speedup + np.sqrt(2) * noise.median * rng.normal(size=ln_speedup.shape)
    return np.maximum(0.0, noisy)


def run(options: argparse.Namespace) -> Iterable[BenchFigure]:
    found = []
    rng = np.random.default_rng([options.seed, 3])
    print("estimator: the bias of ln speedup and the interval's arm, both in %, and how often it holds ln max(1, s)")
    for (problems, samples), (name, (mean, sd)), noise in (
        (board, true, noise) for board in BOARDS for true in TRUE.items() for noise in NOISES
    ):
        of_problem = mean + sd * rng.normal(size=(options.boards, problems))
        true_ln = np.repeat(of_problem[:, :, None], samples, axis=2)
        truth = np.maximum(of_problem, 0.0).mean(axis=1)
        line = f"{problems:4} problems × {samples}, {name:9} noise {noise:4.0%}"
        for rule in (counted, _clamped):
            bias, arm, held = _judged(rule(rng, true_ln, Noise(noise)).mean(axis=2), truth)
            line += f"   {rule.__name__.strip('_'):8} {100 * bias:+7.2f} of {100 * arm:6.2f}, holds {100 * held:5.1f} %"
            if rule is counted and name == "own code":
                found.append(
                    BenchFigure(f"{line.split('   ')[0]}: bias by half the arm", abs(bias) / arm * 2, "", 1, "max")
                )
                found.append(BenchFigure(f"{line.split('   ')[0]}: holds 1", 100 * held, "%", 93.5, "min"))
        print(line)
    return found


def _judged(values: FloatArray, truth: FloatArray) -> tuple[float, float, float]:
    one = bounded(mean_interval(means(values, np.ones_like(values))), 0.0)
    held = (one.low <= truth + 1e-9) & (truth - 1e-9 <= one.high)
    return float((one.value - truth).mean()), float((one.high - one.low).mean() / 2), float(held.mean())
