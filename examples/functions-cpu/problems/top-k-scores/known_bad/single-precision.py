import numpy as np


def solution(scores, best, places, rows, cols, k):
    order = np.argsort(-scores.astype(np.float32), axis=1, kind="stable")[:, :k]
    places[...] = order
    best[...] = np.take_along_axis(scores, order, axis=1)
