"""Piles found by the library's binary search; a new longest end is appended at once."""

from bisect import bisect_left


def longest_increasing(values):
    if not values:
        return 0
    tails = [values[0]]
    append = tails.append
    for value in values:
        if value > tails[-1]:
            append(value)
        else:
            tails[bisect_left(tails, value)] = value
    return len(tails)
