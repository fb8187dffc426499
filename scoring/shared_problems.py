"""Selects the problems over which GFLOPS are averaged, and the figure of each entrant on them."""

import numpy as np

from scoring.arrays import BoolArray, FloatArray


def shared_problems(figures: FloatArray, ranked: BoolArray) -> BoolArray:
    """The problems (P) on which every ranked entrant (E) with any value has one.

    `figures` is E × P; NaN means no value.
    """
    present = np.isfinite(figures)
    taking_part = ranked & present.any(axis=1)
    if not taking_part.any():
        return np.zeros(figures.shape[1], dtype=np.bool_)
    return np.asarray(present[taking_part].all(axis=0))


def over_shared(
    own: FloatArray, _baseline: FloatArray, ranked: BoolArray, _counted: BoolArray, voided: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """The first two rules: own figures, over the problems on which every ranked entrant has one. Both are E × P."""
    return own, np.broadcast_to(shared_problems(own, ranked) & ~voided, own.shape)


def over_all(
    own: FloatArray, baseline: FloatArray, _ranked: BoolArray, counted: BoolArray, _voided: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """All counted problems on which the baseline (P) has a figure, which counts where an entrant has none of its own.

    So no entrant changes the figure of another. Both results are E × P.
    """
    return np.where(np.isfinite(own), own, baseline), counted & np.isfinite(baseline)
