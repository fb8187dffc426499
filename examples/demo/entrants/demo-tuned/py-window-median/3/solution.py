"""A generator over a sorted window."""

from bisect import bisect_right, insort


def medians_of(values, width):
    window, middle = sorted(values[:width]), (width - 1) // 2
    yield window[middle]
    for leaving, entering in zip(values, values[width:]):
        insort(window, entering)
        del window[bisect_right(window, leaving) - 1]
        yield window[middle]


def window_medians(values, width):
    return list(medians_of(values, width))
