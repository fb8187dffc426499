"""sol_score: where a time lies between the least time that the hardware allows and the baseline (SOL-ExecBench)."""

import numpy as np

from scoring.arrays import FloatArray


def has_room(baseline_ms: float, least_ms: float) -> bool:
    """Whether the baseline leaves room for a score: it takes longer than the least time."""
    return baseline_ms > least_ms


def sol_score(time_ms: FloatArray, baseline_ms: FloatArray, least_ms: FloatArray) -> FloatArray:
    """1 ÷ (1 + (T_k − T_SOL) ÷ (T_b − T_SOL)) of the own, the baseline's and the least time, broadcast; 0 to 1.

    A time below the least scores 1, the baseline's 0.5, a missing one (NaN) 0. NaN where the baseline leaves no room.
    """
    room = np.where(baseline_ms > least_ms, baseline_ms - least_ms, np.nan)
    excess = np.maximum(time_ms - least_ms, 0.0)
    return np.where(np.isnan(time_ms) & ~np.isnan(room), 0.0, room / (room + excess))
