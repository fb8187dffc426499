import numpy as np


def solution(left, right, left_lengths, right_lengths, distances, pairs, most):
    places = np.arange(most + 1)[:, None]
    row = np.repeat(places, pairs, axis=1)
    distances[...] = right_lengths
    for i, letters in enumerate(left.T):
        replaced = row[:-1] + 2 * (right.T != letters)
        np.minimum(replaced, row[1:] + 1, out=row[1:])
        row[0] = i + 1
        row = np.minimum.accumulate(row - places, axis=0) + places
        ends = np.flatnonzero(left_lengths == i + 1)
        distances[ends] = row[right_lengths[ends], ends]
