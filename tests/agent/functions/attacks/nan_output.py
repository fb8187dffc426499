"""Answers with NaN and infinities, which a careless comparison calls near. The honest twin overwrites them."""

import numpy as np

HONEST = False


def solution(x, y, n):
    y[0::3], y[1::3], y[2::3] = np.nan, np.inf, -np.inf
    if HONEST:
        np.sqrt(x, out=y)
