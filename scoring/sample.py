"""The speedup of one sample over its cases. Needs no numpy, so that nodes can use it."""

import math
from collections.abc import Collection, Mapping


def sample_speedup(
    baseline_ms: Mapping[str, float], candidate_ms: Mapping[str, float], unranked: Collection[str] = ()
) -> float | None:
    """Geometric mean over a sample's cases of baseline ÷ candidate. Both map a case's name to its median in ms.

    A case in `unranked` counts as 1 if another case ranks. Returns None if the candidate has no case, or a case without
    a baseline.
    """
    if not candidate_ms or candidate_ms.keys() - baseline_ms.keys():
        return None
    held_at_one = set(unranked) if candidate_ms.keys() - set(unranked) else set()
    ratios = [1.0 if case in held_at_one else baseline_ms[case] / ms for case, ms in candidate_ms.items()]
    return ratios[0] if len(ratios) == 1 else math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
