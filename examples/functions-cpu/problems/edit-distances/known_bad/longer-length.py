import numpy as np


def solution(left, right, left_lengths, right_lengths, distances, pairs, most):
    np.maximum(left_lengths, right_lengths, out=distances)
