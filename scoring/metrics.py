"""The registry of metrics: name, needs and meaning of each. Standard library only.

The specification of packs, the boards with their exports, the charts, the admin and the about page read it. A new
metric is an entry here and its computation in `scoring.computed`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
    HELD_OUT = "held-out cases"
    CODING = "command or function problems"
    QUESTIONS = "choice or short-answer problems"
    WEIGHTS = "a weight for each of their groups"
    CASE_WEIGHTS = "weights of cases by their traffic"


class Average(StrEnum):
    """The kind of average over problems: of shares of passes, of other shares and ratios, the geometric one of positive
    ratios and rates, or the median of times."""

    PROPORTION = "proportion"
    ARITHMETIC = "arithmetic"
    GEOMETRIC = "geometric"
    MEDIAN = "median"


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
    missing: str = ""
    """The explanation of a figure that does not exist."""
    no_interval: str = ""
    """The reason why it is stored and shown without an interval; empty if it has one."""
    trap: str = ""
    """The mistake that the figure of another benchmark invites, in one sentence; empty for metrics of our own."""
    exported: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Columns that exports add to it, each with the part of the stored estimate that it holds."""

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
    missing = f"Some problem has fewer than {k} samples."
    return Metric(f"pass@{k}", f"pass@{k}", definition, needs, Average.PROPORTION, k=k, missing=missing)


PASS_AT_1 = pass_at(1)
SPEEDUP = Metric(
    "speedup",
    "Speedup ≥ 1",
    "Geometric mean over problems of baseline time by own time; a sample that fails or is not surely faster counts as"
    " 1×, as its user falls back to the baseline.",
    frozenset({Need.TIMES}),
    Average.GEOMETRIC,
    unit="×",
    missing="No problem on this track has a baseline time that may rank.",
    exported={"timed_problems": "problems"},
)
TRAFFIC_SPEEDUP = Metric(
    "traffic_speedup",
    "Speedup by traffic",
    "The speedup whose cases weigh by the traffic that the release declares of them, and its problems all the same. A"
    " case without a declared weight weighs the mean of its problem's.",
    frozenset({Need.TIMES, Need.CASE_WEIGHTS}),
    Average.GEOMETRIC,
    unit="×",
    missing="No problem on this track has a baseline time that may rank.",
    exported={"traffic_problems": "problems"},
)
CODING = Metric(
    "coding",
    "Coding",
    "pass@1 averaged over the command and function problems, each with the same weight.",
    frozenset({Need.CODING}),
    Average.PROPORTION,
    missing="No command or function problem counts here yet.",
)
WEIGHTED = Metric(
    "weighted",
    "Coding weighted",
    "pass@1 averaged over the command and function problems by the weight that the release gives to each problem's"
    " group.",
    frozenset({Need.CODING, Need.WEIGHTS}),
    Average.PROPORTION,
    missing="No problem with a weight counts here yet.",
)
QUESTIONS = Metric(
    "questions",
    "Questions",
    "pass@1 averaged over the choice and short-answer problems, each with the same weight.",
    frozenset({Need.QUESTIONS}),
    Average.PROPORTION,
    missing="No question counts here yet.",
)
GFLOPS = Metric(
    "gflops",
    "GFLOPS",
    "Geometric mean of declared work by best time, over the problems that declare it and have a baseline time; the"
    " baseline's counts where no passing time may rank.",
    frozenset({Need.TIMES, Need.FLOPS}),
    Average.GEOMETRIC,
    unit="",
    missing="No problem counts here that declares work and has a baseline time that may rank.",
    no_interval="Problems differ in GFLOPS by orders of magnitude for every entrant.",
    exported={"gflops_problems": "problems", "gflops_own": "own"},
)
ROOFLINE = Metric(
    "roofline",
    "Roofline",
    "Share of what the track's measured peaks allow, by best time, averaged over the problems that declare their work;"
    " a problem without a time that may rank counts 0.",
    frozenset({Need.TIMES, Need.WORK, Need.PEAKS}),
    Average.ARITHMETIC,
    missing="No problem that counts for it declares work for which the track's peaks are measured.",
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
    missing="No problem counts here whose baseline is above its bound",
    trap="SOL-ExecBench's: the baseline decides as much as the solution, since a slower one lifts every score.",
    exported={"sol_score_left_out": "left_out"},
)

_PASSES_ALONE = "It is over passes alone, so that entrants differ in the problems that it is over."
CORRECT_SPEEDUP = Metric(
    "correct_speedup",
    "Speedup of passes",
    "Geometric mean over passing samples whose time may rank, as measured: slower ones count less than 1×.",
    frozenset({Need.TIMES}),
    Average.GEOMETRIC,
    unit="×",
    missing="No sample passed with a time that may rank.",
    no_interval=_PASSES_ALONE,
    exported={"correct_problems": "problems"},
)
HELD_OUT_SPEEDUP = Metric(
    "held_out_speedup",
    "Held out",
    "Speedup of passes in cases whose sizes nobody is told. Below it the gap: this figure by that of the public cases.",
    frozenset({Need.TIMES, Need.HELD_OUT}),
    Average.GEOMETRIC,
    unit="×",
    missing="No sample passed with times that may rank in held-out cases and in others.",
    no_interval=_PASSES_ALONE,
    exported={"public_speedup": "public", "held_out_problems": "problems"},
)
FAST_1 = Metric(
    "fast_1",
    "fast₁",
    "KernelBench's fast_p at p = 1, by this site's clock: share of samples that pass and are faster than the baseline,"
    " averaged over problems.",
    frozenset({Need.TIMES}),
    Average.PROPORTION,
    trap="A time 0.1 % below the baseline's counts as much as one ten times as fast, and noise alone wins ties.",
    no_interval="It is a point of the curve of fast_p, which has none.",
)
MEDIAN_TIME = Metric(
    "median_ms",
    "Median time",
    "Median over problems of the median time of the samples that pass with a time that may rank. Samples that fail have"
    " no time, so that it compares entrants who pass the same problems.",
    frozenset({Need.TIMES}),
    Average.MEDIAN,
    unit="ms",
    better="down",
    missing="No sample passed with a time that may rank.",
    exported={"median_ms_problems": "problems"},
)
_ATTEMPTED = "It is over the problems that an entrant attempted, which the entrant chose."
AUTHOR_SCORE = Metric(
    "author_score",
    "Author score",
    "FlashInfer-Bench's, by this site's clock: mean over the problems that the entrant attempted of its best sample's"
    " arithmetic mean over cases of baseline time by own time; a sample that fails, or has a case without a time that"
    " may rank, scores 0.",
    frozenset({Need.TIMES}),
    Average.ARITHMETIC,
    unit="×",
    missing="The entrant attempted no problem with a baseline time that may rank.",
    no_interval=_ATTEMPTED,
    trap="Leaving hard problems out raises it, one case may decide an arithmetic mean, and repeats keep the luckiest"
    " time.",
    exported={"author_score_problems": "problems"},
)
WIN_RATE = Metric(
    "win_rate",
    "Win rate",
    "FlashInfer-Bench's, by this site's clock: share of cases in which the author score's sample is faster than the"
    " baseline, averaged over the problems that the entrant attempted.",
    frozenset({Need.TIMES}),
    Average.ARITHMETIC,
    missing="The entrant attempted no problem with a baseline time that may rank.",
    no_interval=_ATTEMPTED,
    trap="It does not tell 1.001× from 100×, and leaving hard problems out raises it.",
    exported={"win_rate_problems": "problems"},
)

NAMED = (SPEEDUP, TRAFFIC_SPEEDUP, CODING, WEIGHTED, QUESTIONS, GFLOPS, ROOFLINE, SOL_SCORE)
"""Every metric without a parameter that can rank a release. Releases have a constraint of these names in this order."""
SHOWN = (
    CODING,
    WEIGHTED,
    QUESTIONS,
    SPEEDUP,
    TRAFFIC_SPEEDUP,
    CORRECT_SPEEDUP,
    HELD_OUT_SPEEDUP,
    FAST_1,
    ROOFLINE,
    GFLOPS,
    SOL_SCORE,
    MEDIAN_TIME,
    AUTHOR_SCORE,
    WIN_RATE,
)
"""Every metric without a parameter, in the order of a board's columns."""
THEIRS = (AUTHOR_SCORE, WIN_RATE)
"""Other benchmarks' scores, which boards show when they are asked to."""
SHOWN_ONLY = tuple(metric for metric in SHOWN if metric not in NAMED)
"""Those that cannot rank a release."""

_RANKS_BY_NAME = {metric.name: metric for metric in NAMED}
_BY_NAME = {metric.name: metric for metric in SHOWN}


def shown_metric(name: str) -> Metric:
    """The metric of that name, also one that cannot rank. Raises UnknownMetric."""
    return _BY_NAME[name] if name in _BY_NAME else metric_named(name)


def metric_named(name: str) -> Metric:
    """The metric of that name that can rank a release, as `speedup` or `pass@3`. Raises UnknownMetric."""
    if found := _PASS_AT.fullmatch(name):
        k = int(found[1])
        if k <= LARGEST_K:
            return pass_at(k)
    if name in _RANKS_BY_NAME:
        return _RANKS_BY_NAME[name]
    raise UnknownMetric(f"is no metric; use pass@k with a k from 1 to {LARGEST_K}, or {', '.join(_RANKS_BY_NAME)}")


def registry() -> Iterator[Metric]:
    """One metric of each kind that can rank, for pages that explain them; pass@k is shown as pass@1 and pass@2."""
    yield pass_at(1)
    yield pass_at(2)
    yield from NAMED
