"""Moves only the part of the sorted window between the value that leaves and the one that enters."""

from bisect import bisect_left


def replace(window, old, new):
    leaving, entering = bisect_left(window, old), bisect_left(window, new)
    if entering > leaving:
        window[leaving : entering - 1] = window[leaving + 1 : entering]
        window[entering - 1] = new
    else:
        window[entering + 1 : leaving + 1] = window[entering:leaving]
        window[entering] = new


def window_medians(values, width):
    window = sorted(values[:width])
    medians = [window[(width - 1) // 2]]
    for old, new in zip(values, values[width:]):
        replace(window, old, new)
        medians.append(window[(width - 1) // 2])
    return medians
