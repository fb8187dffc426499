"""The registry of metrics that can rank a release: name, needs and meaning of each. Standard library only.

The specification of packs, the boards, the admin and the about page read it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

LARGEST_K = 100
"""The largest k of a pass@k."""

_PASS_AT = re.compile(r"pass@([1-9][0-9]{0,2})", re.ASCII)


class Need(StrEnum):
    """An input without which a metric has no value. The text completes the sentence "it needs …"."""

    SAMPLES = "at least k samples of each problem"
    TIMES = "problems with a benchmark, a baseline and a clock that ranks"
    FLOPS = "timed problems that declare `flops`"
    WORK = "timed problems that declare `flops` or `bytes`"
    PEAKS = "the track's measured peaks"
    FASTEST_PEAKS = "the track's measured peaks, those of the fastest arithmetic that the tolerances admit"
    CODING = "command or function problems"
    QUESTIONS = "choice or short-answer problems"
    WEIGHTS = "a weight for each of their groups"


class Average(StrEnum):
    """The kind of average over problems: of shares of passes, of other shares, or of positive ratios and rates."""

    PROPORTION = "proportion"
    ARITHMETIC = "arithmetic"
    GEOMETRIC = "geometric"


@dataclass(frozen=True)
class Metric:
    """One metric. `unit` is `%` for shares of 1, `×` for ratios, else empty; `better` is `up` or `down`."""

    name: str
    title: str
    definition: str
    needs: frozenset[Need]
    average: Average
    unit: str = "%"
    better: str = "up"
    k: int | None = None
    """The k of pass@k; None for other metrics."""

    @property
    def sorted_needs(self) -> list[Need]:
        """The needs in the order of `Need`."""
        return [need for need in Need if need in self.needs]


class UnknownMetric(ValueError):
    """No metric has that name. The message lists all metrics."""


def pass_at(k: int) -> Metric:
    """The metric pass@k. Raises ValueError unless k is from 1 to `LARGEST_K`."""
    if not 1 <= k <= LARGEST_K:
        raise ValueError(f"pass@k needs a k from 1 to {LARGEST_K}, not {k}")
    if k == 1:
        definition = "Share of samples that pass, averaged over problems."
    else:
        definition = f"Chance that one of {k} samples passes, averaged over problems."
    needs = frozenset() if k == 1 else frozenset({Need.SAMPLES})
    return Metric(f"pass@{k}", f"pass@{k}", definition, needs, Average.PROPORTION, k=k)


SPEEDUP = Metric(
    "speedup",
    "Speedup ≥ 1",
    "Geometric mean over problems of baseline time by own time; a sample that fails or is not surely faster counts as"
    " 1×, as its user falls back to the baseline.",
    frozenset({Need.TIMES}),
    Average.GEOMETRIC,
    unit="×",
)
CODING = Metric(
    "coding",
    "Coding",
    "pass@1 averaged over the command and function problems, each with the same weight.",
    frozenset({Need.CODING}),
    Average.PROPORTION,
)
WEIGHTED = Metric(
    "weighted",
    "Coding weighted",
    "pass@1 averaged over the command and function problems by the weight that the release gives to each problem's"
    " group.",
    frozenset({Need.CODING, Need.WEIGHTS}),
    Average.PROPORTION,
)
QUESTIONS = Metric(
    "questions",
    "Questions",
    "pass@1 averaged over the choice and short-answer problems, each with the same weight.",
    frozenset({Need.QUESTIONS}),
    Average.PROPORTION,
)
GFLOPS = Metric(
    "gflops",
    "GFLOPS",
    "Geometric mean of declared work by best time, over the problems that declare it and have a baseline time; the"
    " baseline's counts where no passing time may rank.",
    frozenset({Need.TIMES, Need.FLOPS}),
    Average.GEOMETRIC,
    unit="",
)
ROOFLINE = Metric(
    "roofline",
    "Roofline",
    "Share of what the track's measured peaks allow, by best time, averaged over the problems that declare their work;"
    " a problem without a time that may rank counts 0.",
    frozenset({Need.TIMES, Need.WORK, Need.PEAKS}),
    Average.ARITHMETIC,
)
SOL_SCORE = Metric(
    "sol_score",
    "SOL score",
    "Where a time lies between the least that the track's measured peaks allow (1) and the baseline (0.5), averaged"
    " over problems; a sample without a time that may rank counts 0. Problems whose baseline is already at the least"
    " time are left out.",
    frozenset({Need.TIMES, Need.WORK, Need.FASTEST_PEAKS}),
    Average.ARITHMETIC,
    unit="",
)

NAMED = (SPEEDUP, CODING, WEIGHTED, QUESTIONS, GFLOPS, ROOFLINE, SOL_SCORE)
"""Every metric without a parameter."""

_BY_NAME = {metric.name: metric for metric in NAMED}


def metric_named(name: str) -> Metric:
    """The metric of that name, for example `speedup` or `pass@3`. Raises UnknownMetric."""
    if found := _PASS_AT.fullmatch(name):
        k = int(found[1])
        if k <= LARGEST_K:
            return pass_at(k)
    if name in _BY_NAME:
        return _BY_NAME[name]
    raise UnknownMetric(f"is no metric; use pass@k with a k from 1 to {LARGEST_K}, or {', '.join(_BY_NAME)}")


def registry() -> Iterator[Metric]:
    """One metric of each kind, for pages that explain them; pass@k is shown as pass@1 and pass@2."""
    yield pass_at(1)
    yield pass_at(2)
    yield from NAMED
