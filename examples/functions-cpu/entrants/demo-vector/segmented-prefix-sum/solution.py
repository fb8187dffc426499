"""One running sum of everything; each segment then takes off what was there before it."""

import numpy as np


def solution(values, restart, sums, n):
    np.cumsum(values, out=sums)
    starts = np.flatnonzero(restart)
    if starts.size:
        before = sums[starts] - values[starts]
        lengths = np.diff(starts, append=n)
        sums[starts[0] :] -= np.repeat(before, lengths)
