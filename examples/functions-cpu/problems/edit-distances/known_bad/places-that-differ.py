import numpy as np


def solution(left, right, left_lengths, right_lengths, distances, pairs, most):
    for pair in range(pairs):
        shorter, longer = sorted((left_lengths[pair], right_lengths[pair]))
        distances[pair] = longer - shorter + np.count_nonzero(left[pair, :shorter] != right[pair, :shorter])
