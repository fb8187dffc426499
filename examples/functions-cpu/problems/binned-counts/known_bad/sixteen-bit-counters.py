import numpy as np


def solution(values, counts, outside, lower, width, n, bins):
    index = (values - np.int32(lower)) // np.int32(width)
    inside = (index >= 0) & (index < bins)
    exact = np.bincount(index[inside], minlength=bins)
    counts[...] = exact.astype(np.uint16)
    outside[0] = n - exact.sum()
