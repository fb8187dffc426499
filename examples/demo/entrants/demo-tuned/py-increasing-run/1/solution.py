"""Slice assignment appends or replaces, whichever the place asks for."""

from bisect import bisect_left


def longest_increasing(values):
    tails = []
    for value in values:
        place = bisect_left(tails, value)
        tails[place : place + 1] = (value,)
    return len(tails)
