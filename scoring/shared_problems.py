"""Selects the problems over which GFLOPS are averaged."""

import numpy as np

from scoring.arrays import BoolArray, FloatArray


def shared_problems(figures: FloatArray, ranked: BoolArray) -> BoolArray:
    """The problems (P) on which every ranked entrant (E) with any value has one.

    `figures` is E × P; NaN means no value. GFLOPS are averaged over these problems only, because an average over each
    entrant's own passes would compare different work.
    """
    present = np.isfinite(figures)
    taking_part = ranked & present.any(axis=1)
    if not taking_part.any():
        return np.zeros(figures.shape[1], dtype=np.bool_)
    return np.asarray(present[taking_part].all(axis=0))
