"""One 64-bit key holds score and place, so that a partition needs no second look at equal scores."""

import numpy as np


def solution(scores, best, places, rows, cols, k):
    keys = (~scores).astype(np.int64) << 32
    keys |= np.arange(cols)
    if k < cols:
        keys.partition(k - 1, axis=1)
    first = np.sort(keys[:, :k], axis=1)
    best[...] = ~(first >> 32)
    places[...] = first & 0xFFFFFFFF
