"""The speedup of one sample over its cases. Needs no numpy, so that nodes can use it."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

UNKNOWN_NOISE = math.log(1.1)
"""The logarithm up to which the ratio of two times without intervals is not trusted: one process of each, 10 %."""

MOST_LN = 700.0
"""Largest logarithm whose exponential a float holds."""


def sample_speedup(
    baseline_ms: Mapping[str, float],
    candidate_ms: Mapping[str, float],
    unranked: Collection[str] = (),
    no_time: Collection[str] = (),
) -> float | None:
    """Geometric mean over a sample's cases of baseline ÷ candidate. Both map a case's name to its median in ms.

    If another case ranks, a case in `unranked`, whose time cannot rank, counts at most 1, and a case in `no_time`,
    which has none for the candidate's reasons, counts 1. Returns None if no case has a time, or if one of the candidate
    has no baseline.
    """
    if not candidate_ms or candidate_ms.keys() - baseline_ms.keys():
        return None
    held, untimed = _at_most_one(candidate_ms, unranked), set(no_time) - candidate_ms.keys()
    known = {case: baseline_ms[case] / ms for case, ms in candidate_ms.items()}
    ratios = [min(1.0, ratio) if case in held else ratio for case, ratio in known.items()] + [1.0] * len(untimed)
    return ratios[0] if len(ratios) == 1 else math.exp(math.fsum(map(math.log, ratios)) / len(ratios))


def _at_most_one(candidate_ms: Mapping[str, float], unranked: Collection[str]) -> set[str]:
    """The unranked cases if another one ranks; else none, because the sample's speedup is shown and does not rank."""
    return set(unranked) if candidate_ms.keys() - set(unranked) else set()


class TimedCase(NamedTuple):
    """A case of a sample: its ratio baseline ÷ candidate, and the ratio's lower arm in logarithms."""

    ratio: float
    arm: float = UNKNOWN_NOISE
    ranks: bool = True


def ratio_arm(
    baseline_ms: float, baseline_low_ms: float | None, candidate_ms: float, candidate_high_ms: float | None
) -> float:
    """The lower arm of ln (baseline ÷ candidate), from the intervals of both medians.

    It is the sum of their arms, so that a ratio is surely above 1 where the intervals do not overlap: by chance in one
    of 900 samples of equal code with six processes each. `UNKNOWN_NOISE` if a time has no interval, or if neither has a
    width: times that are all equal show the clock's steps, not the noise.
    """
    if baseline_low_ms is None or candidate_high_ms is None:
        return UNKNOWN_NOISE
    arm = math.log(baseline_ms / baseline_low_ms) + math.log(candidate_high_ms / candidate_ms)
    return arm or UNKNOWN_NOISE


def by_traffic(
    speedup: float, cases: Sequence[tuple[str, TimedCase]], weights: Mapping[str, float]
) -> tuple[float, list[TimedCase]]:
    """Speedup and cases whose plain mean of logarithms is the mean of the given ones weighted by case.

    Weights are scaled to a mean of 1 over the sample's cases; a case without one weighs their mean. So equal weights
    change nothing. What cases without a time took from `speedup` they take here too.
    """
    plain = [one for _, one in cases]
    known = [weights[case] for case, _ in cases if case in weights]
    if not known:
        return speedup, plain
    mean = math.fsum(known) / len(known)
    given = [weights.get(case, mean) for case, _ in cases]
    scale = len(given) / math.fsum(given)
    weighted = [
        TimedCase(_power(one.ratio, weight * scale), one.arm * (weight * scale), one.ranks)
        for one, weight in zip(plain, given, strict=True)
    ]
    return speedup * math.exp(_mean_ln(weighted) - _mean_ln(plain)), weighted


def _power(ratio: float, exponent: float) -> float:
    """Within what a float holds: a single case may weigh as much as all of many."""
    return math.exp(max(-MOST_LN, min(MOST_LN, exponent * math.log(ratio))))


def _mean_ln(cases: Sequence[TimedCase]) -> float:
    return math.fsum(math.log(case.ratio) for case in cases) / len(cases)


def counted_if_faster(speedup: float, _cases: Sequence[TimedCase]) -> float:
    """ln max(1, s): the first rules."""
    return math.log(max(1.0, speedup))


def counted_if_surely_faster(speedup: float, cases: Sequence[TimedCase]) -> float:
    """ln s if its interval lies above 1, else 0. A case that may not rank counts 1, or less if it is slower.

    `speedup` stands for the cases if there are none, and where it is less: a case without a time counted 1 there.
    """
    cases = cases or [TimedCase(speedup)]
    logs = [math.log(case.ratio) if case.ranks else min(0.0, math.log(case.ratio)) for case in cases]
    ln_speedup = min(math.fsum(logs) / len(logs), math.log(speedup))
    arm = math.hypot(*(case.arm for case in cases if case.ranks)) / len(cases)
    return ln_speedup if ln_speedup > arm else 0.0
