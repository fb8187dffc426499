"""The library's own function."""

import numpy as np


def solution(x, index, rows, cols):
    index[...] = np.argmax(x, axis=1)
