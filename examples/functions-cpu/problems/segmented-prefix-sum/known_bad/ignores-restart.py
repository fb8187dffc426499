import numpy as np


def solution(values, restart, sums, n):
    np.cumsum(values, out=sums)
