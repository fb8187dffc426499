"""Sums of 32 bits, which overflow in the larger cases."""

import numpy as np


def solution(values, sums, n):
    inclusive = np.cumsum(values, dtype=np.int32)
    sums[...] = inclusive - values
