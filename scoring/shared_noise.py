"""Noise that all problems share: the common movement of equal code's times from one node and day to the next."""

import numpy as np

from scoring.arrays import FloatArray, IntArray
from scoring.median import Z_95
from scoring.uncertainty import student_t

LEAST_GROUPS = 3
"""Nodes and days below which nothing is known of the noise that they share."""
_SWEEPS = 20


def shared_sd(ln_times: FloatArray, items: IntArray, groups: IntArray) -> float:
    """The standard deviation of the groups' effects on ln time, widened for their number; 0 if it is not known.

    One time a row: `items` says of which problem and case, `groups` on which node and day. The effects are those of an
    additive model (item + group); the noise of single times in them is taken off (method of moments).
    """
    rows = _in_several_groups(items, groups)
    y, items, groups = ln_times[rows], items[rows], groups[rows]
    names, groups = np.unique(groups, return_inverse=True)
    n_groups, n_items = names.size, np.unique(items).size
    freedom = y.size - n_items - n_groups + 1
    if n_groups < LEAST_GROUPS or freedom < 1:
        return 0.0
    items = np.unique(items, return_inverse=True)[1]
    effect, of_item = np.zeros(n_groups), np.zeros(n_items)
    for _ in range(_SWEEPS):
        of_item = _mean(y - effect[groups], items, n_items)
        effect = _mean(y - of_item[items], groups, n_groups)
    rest = float(((y - of_item[items] - effect[groups]) ** 2).sum()) / freedom
    single = rest * float((1 / np.bincount(groups, minlength=n_groups)).mean())
    variance = max(0.0, float(effect.var(ddof=1)) - single)
    return float(np.sqrt(variance) * student_t(np.array(n_groups - 1.0)) / Z_95)


def _in_several_groups(items: IntArray, groups: IntArray) -> IntArray:
    """The rows of items that were timed in more than one group."""
    pairs = np.unique(np.stack([items, groups]), axis=1)
    known, n_groups = np.unique(pairs[0], return_counts=True)
    return np.flatnonzero(np.isin(items, known[n_groups > 1]))


def _mean(values: FloatArray, places: IntArray, n: int) -> FloatArray:
    return np.bincount(places, values, minlength=n) / np.bincount(places, minlength=n)
