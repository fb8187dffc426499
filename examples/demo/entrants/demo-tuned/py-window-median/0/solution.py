"""A sorted window: one removal and one insertion per step, both found by bisection."""

from bisect import bisect_left, insort


def window_medians(values, width):
    window = sorted(values[:width])
    middle = (width - 1) // 2
    medians = [window[middle]]
    for old, new in zip(values, values[width:]):
        del window[bisect_left(window, old)]
        insort(window, new)
        medians.append(window[middle])
    return medians
