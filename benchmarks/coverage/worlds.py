"""Populations of problems whose means are known, and boards drawn from them.

An entrant's probability of passing a problem is logistic (skill + spread · normal) or Beta. Its skill is drawn anew for
each board, so that coverage is not that of one lucky mean.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import exp, lgamma

import numpy as np

from scoring.arrays import BoolArray, FloatArray
from scoring.pass_at_k import most_trials, pass_at_k

Rng = np.random.Generator
SIZES = (3, 5, 6, 7, 8, 12, 25, 36, 100)
PROCESSES, MEDIAN_SD = 6, 0.4634
"""The standard deviation of the median of six normal values of variance 1."""
SAMPLE_SD = 0.15
"""How much the true speedups of an entrant's samples of one problem differ, in logarithms."""
_NODES, _MASSES = np.polynomial.hermite_e.hermegauss(60)
_MASSES = _MASSES / _MASSES.sum()


@dataclass(frozen=True)
class Passing:
    """How probabilities of passing are distributed over problems."""

    name: str
    draw: Callable[[Rng, int, int], tuple[FloatArray, Callable[[int], FloatArray]]]
    """From a generator, boards and problems: boards × problems, and the true mean of pass@k of each board."""


def _logistic(name: str, least: float, most: float, spread: float) -> Passing:
    def draw(rng: Rng, boards: int, problems: int) -> tuple[FloatArray, Callable[[int], FloatArray]]:
        skill = rng.uniform(least, most, (boards, 1))
        chance = _sigmoid(skill + spread * rng.normal(size=(boards, problems)))
        grid = _sigmoid(skill + spread * _NODES)
        return chance, lambda k: np.asarray(((1 - (1 - grid) ** k) * _MASSES).sum(axis=1))

    return Passing(name, draw)


def _beta(name: str, a: float, b: float) -> Passing:
    def draw(rng: Rng, boards: int, problems: int) -> tuple[FloatArray, Callable[[int], FloatArray]]:
        def truth(k: int) -> FloatArray:
            return np.full(boards, 1 - exp(lgamma(b + k) + lgamma(a + b) - lgamma(b) - lgamma(a + b + k)))

        return rng.beta(a, b, (boards, problems)), truth

    return Passing(name, draw)


def _two_kinds(name: str, easy: float, hard: float) -> Passing:
    def draw(rng: Rng, boards: int, problems: int) -> tuple[FloatArray, Callable[[int], FloatArray]]:
        share = rng.uniform(0.1, 0.9, (boards, 1))
        chance = np.where(rng.random((boards, problems)) < share, easy, hard)
        return chance, lambda k: (share * (1 - (1 - easy) ** k) + (1 - share) * (1 - (1 - hard) ** k))[:, 0]

    return Passing(name, draw)


def _sigmoid(x: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-x)))


TUNED = (
    _logistic("alike", -3, 3, 0.0),
    _logistic("spread", -2, 2, 1.2),
    _logistic("wide", -2, 2, 4.0),
    _logistic("hard", -4, -2, 1.0),
    _logistic("easy", 2, 4, 1.0),
    _logistic("all at 0.05", -2.944, -2.944, 0.0),
    _logistic("all at 0.95", 2.944, 2.944, 0.0),
    _two_kinds("two kinds", 0.95, 0.03),
    _beta("Beta(½, ½)", 0.5, 0.5),
    _beta("Beta(2, 2)", 2, 2),
    _beta("Beta(8, 2)", 8, 2),
    _beta("Beta(1, 9)", 1, 9),
    _logistic("bent", -1, 3, 2.0),
    _two_kinds("three in four or none", 0.75, 0.0),
)
HELD_OUT = (
    _beta("Beta(0.3, 0.6)", 0.3, 0.6),
    _logistic("gentle", -2, 2, 0.6),
    _beta("Beta(5, 1.5)", 5, 1.5),
    _logistic("steep", -3, 3, 3.0),
    _beta("Beta(1, 1)", 1, 1),
    _two_kinds("nearly always or one in five", 0.99, 0.2),
)
"""Not looked at when the methods were chosen."""
ALWAYS = _logistic("always", 40, 40, 0.0)


@dataclass(frozen=True)
class Boards:
    """Simulated boards of one configuration: values of problems, and the truth of each board."""

    values: FloatArray
    """Boards × problems."""
    drawn: FloatArray
    """The mean over problems like these."""
    fixed: FloatArray
    """The mean over these very problems."""
    most_trials: float = 0.0
    """The largest number of trials of an interval of a share."""
    shared_sd: FloatArray | float = 0.0
    """The noise that all problems of a board share, by the share of samples that are faster than the baseline."""


@dataclass(frozen=True)
class Shares:
    """pass@k of n samples."""

    passing: Passing
    problems: int
    samples: int
    k: int

    @property
    def metric(self) -> str:
        return "pass@1" if self.k == 1 else "pass@k"

    @property
    def words(self) -> str:
        return f"{self.passing.name}, {self.samples} samples, k = {self.k}"

    def boards(self, rng: Rng, boards: int) -> Boards:
        chance, truth = self.passing.draw(rng, boards, self.problems)
        values = pass_at_k(self.samples, rng.binomial(self.samples, chance), self.k)
        trials = float(most_trials(np.array(float(self.samples)), self.k))
        return Boards(values, truth(self.k), (1 - (1 - chance) ** self.k).mean(axis=1), trials)


@dataclass(frozen=True)
class Noise:
    """Standard deviations in logarithms: of a published median, of what a problem's baseline and an entrant share."""

    median: float
    baseline: float = 0.0
    day: float = 0.0


NOISES = (
    Noise(0.0), Noise(0.01, 0.01), Noise(0.02, 0.01, 0.005), Noise(0.05, 0.03, 0.01), Noise(0.1, 0.04, 0.02),
    Noise(0.2, 0.05, 0.03),
)  # fmt: skip
SPEEDS = {
    "one speed": (0.7, 0.0),
    "different speeds": (0.7, 0.6),
    "little to gain": (0.1, 0.4),
    "half faster": (0.0, 0.8),
    "mostly slower": (-0.5, 0.5),
    "much faster": (1.5, 1.2),
    "twice": (0.3, 0.2),
    "few gain": (-0.8, 1.0),
    "four times": (1.4, 0.3),
}
"""Mean and standard deviation over problems of the true ln speedup."""
HELD_OUT_SPEEDS = {"three times": (1.1, 0.4), "rare gains": (-1.2, 1.2), "a tenth": (0.1, 0.1)}


def counted(rng: Rng, ln_speedup: FloatArray, noise: Noise) -> FloatArray:
    """ln of what each sample counts, from six processes of it and of the baseline (`scoring.sample`)."""
    return _counted(rng, ln_speedup, noise)[0]


def _counted(rng: Rng, ln_speedup: FloatArray, noise: Noise) -> tuple[FloatArray, BoolArray]:
    """The same, and which samples are faster than the baseline, surely or not."""
    own, base = (_timed(rng, ln_speedup.shape, noise.median) for _ in range(2))
    ln_ratio = ln_speedup + base[0] - own[0]
    arm = base[0] - base[1] + own[2] - own[0]
    return np.where(ln_ratio > arm, ln_ratio, 0.0), ln_ratio > 0


def _timed(rng: Rng, shape: tuple[int, ...], sd: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Median, least and greatest of six processes' ln times."""
    if not sd:
        zero = np.zeros(shape)
        return zero, zero, zero
    runs = np.sort(rng.normal(size=(*shape, PROCESSES)) * sd / MEDIAN_SD, axis=-1)
    return runs[..., 2:4].mean(axis=-1), runs[..., 0], runs[..., -1]


@lru_cache(maxsize=64)
def _expected(noise: Noise, repeats: int = 4000) -> tuple[FloatArray, FloatArray]:
    """The average count of a passed sample, by the problem's true ln speedup."""
    rng, at = np.random.default_rng(7), np.linspace(-6.0, 8.0, 281)
    shape = (at.size, repeats)
    spread = np.sqrt(SAMPLE_SD**2 + noise.baseline**2 + noise.day**2)
    return at, counted(rng, at[:, None] + spread * rng.normal(size=shape), noise).mean(axis=1)


@dataclass(frozen=True)
class Speedups:
    """The logarithm of the speedup of n samples, of which some fail."""

    passing: Passing
    speeds: str
    problems: int
    samples: int
    noise: Noise

    metric = "speedup"

    @property
    def words(self) -> str:
        return f"{self.passing.name}, {self.speeds}, {self.samples} samples, noise {self.noise.median:.0%}"

    def boards(self, rng: Rng, boards: int) -> Boards:
        mean, sd = (SPEEDS | HELD_OUT_SPEEDS)[self.speeds]
        chance, truth = self.passing.draw(rng, boards, self.problems)
        of_problem = mean + sd * rng.normal(size=(boards, self.problems))
        shared = self.noise.baseline * rng.normal(size=of_problem.shape) + self.noise.day * rng.normal(size=(boards, 1))
        shape = (boards, self.problems, self.samples)
        true_ln = (of_problem + shared)[:, :, None] + SAMPLE_SD * rng.normal(size=shape)
        passed = rng.random(shape) < chance[:, :, None]
        of_sample, faster = _counted(rng, true_ln, self.noise)
        values = np.where(passed, of_sample, 0.0).mean(axis=2)
        shared_sd = self.noise.day * (passed & faster).mean(axis=(1, 2))
        at, expected = _expected(self.noise)
        per_pass = float((np.interp(mean + sd * _NODES, at, expected) * _MASSES).sum())
        fixed = (chance * np.interp(of_problem, at, expected)).mean(axis=1)
        return Boards(values, truth(1) * per_pass, fixed, shared_sd=shared_sd)


Configuration = Shares | Speedups


def configurations(*, held_out: bool) -> Iterator[Configuration]:
    """Those that the methods were chosen on, or others."""
    populations = HELD_OUT if held_out else TUNED
    looks = ((1, 1), (3, 1), (10, 1), (20, 1), (3, 3), (10, 3), (20, 3), (20, 10))
    for problems, passing, (samples, k) in product(SIZES, populations, looks):
        yield Shares(passing, problems, samples, k)
    speeds, passings = (HELD_OUT_SPEEDS if held_out else SPEEDS), (populations[1], populations[4], ALWAYS)
    cases = product(SIZES, passings, speeds, enumerate(NOISES))
    for problems, passing, name, (n, noise) in cases:
        samples = (1, 3)[n % 2]
        yield Speedups(passing, name, problems, samples, noise)
