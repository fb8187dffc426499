"""The statistics module's median of a window kept sorted with bisect."""

import statistics
from bisect import bisect_left, insort


def window_medians(values, width):
    window = sorted(values[:width])
    medians = [int(statistics.median(window))]
    for old, new in zip(values, values[width:]):
        window.pop(bisect_left(window, old))
        insort(window, new)
        medians.append(int(statistics.median(window)))
    return medians
