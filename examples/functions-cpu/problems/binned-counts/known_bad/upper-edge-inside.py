import numpy as np


def solution(values, counts, outside, lower, width, n, bins):
    index = (values - np.int32(lower) - 1) // np.int32(width)
    inside = (index >= 0) & (index < bins)
    counts[...] = np.bincount(index[inside], minlength=bins)
    outside[0] = n - counts.sum()
