import numpy as np


def solution(values, sums, n):
    sums[...] = np.cumsum(values, dtype=np.int64)
