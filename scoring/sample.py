"""The speedup of one sample over its cases. Needs no numpy, so that nodes can use it."""

import math
from collections.abc import Collection, Mapping


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
