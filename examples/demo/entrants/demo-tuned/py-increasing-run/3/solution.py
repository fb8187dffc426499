"""Keeps the longest end in a local name, so that most comparisons touch no list."""

import bisect


def longest_increasing(values):
    tails, longest_end, search = [], None, bisect.bisect_left
    for value in values:
        if longest_end is None or value > longest_end:
            tails.append(value)
            longest_end = value
        elif value < longest_end:
            tails[search(tails, value)] = value
            longest_end = tails[-1]
    return len(tails)
