"""Weights of problems by the difficulty of their group: w = (1 − pass rate) + ε, scaled to mean 1 over problems."""

import numpy as np
import numpy.typing as npt

from scoring.arrays import FloatArray

EPSILON = 0.05


def group_weights(pass_rates: npt.ArrayLike, problems: npt.ArrayLike, epsilon: float = EPSILON) -> FloatArray:
    """The weight of one problem of each group, from the groups' pass rates (0 to 1) and numbers of problems.

    The mean is taken over problems, not over groups, as PMPP-eval does. Raises ValueError if the arguments differ in
    length, a rate lies outside 0 to 1, a group has no problem, ε is negative, or every weight would be 0.
    """
    rates, sizes = np.asarray(pass_rates, dtype=np.float64), np.asarray(problems, dtype=np.float64)
    if rates.ndim != 1 or rates.shape != sizes.shape:
        raise ValueError(f"weights need a pass rate and a size per group, not shapes {rates.shape} and {sizes.shape}")
    if not np.all((rates >= 0) & (rates <= 1)) or not np.all(sizes > 0) or epsilon < 0:
        raise ValueError("weights need pass rates from 0 to 1, groups of at least one problem and epsilon >= 0")
    raw = (1.0 - rates) + epsilon
    total = float((raw * sizes).sum())
    if rates.size and total == 0:
        raise ValueError("every weight is 0, because all pass rates are 1: give an epsilon above 0")
    return raw * (float(sizes.sum()) / total) if rates.size else raw
