import numpy as np


def solution(scores, best, places, rows, cols, k):
    order = np.argsort(scores, axis=1, kind="stable")[:, ::-1][:, :k]
    places[...] = order
    best[...] = np.take_along_axis(scores, order, axis=1)
