import numpy as np


def solution(values, restart, sums, n):
    totals = np.cumsum(values)
    before = totals - values
    last = np.maximum.accumulate(np.where(restart, np.arange(n), -1))
    sums[...] = before - np.where(last >= 0, before[last], 0)
