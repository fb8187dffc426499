import numpy as np


def solution(scores, best, places, rows, cols, k):
    best[...] = scores[:, :k]
    places[...] = np.arange(k)
