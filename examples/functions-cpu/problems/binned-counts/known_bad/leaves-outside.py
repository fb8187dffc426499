import numpy as np


def solution(values, counts, outside, lower, width, n, bins):
    index = (values - np.int32(lower)) // np.int32(width)
    counts[...] = np.bincount(index[(index >= 0) & (index < bins)], minlength=bins)
