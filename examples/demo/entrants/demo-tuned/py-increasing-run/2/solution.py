"""A fixed table ended by infinity, so that the search never runs off its end."""

from bisect import bisect_left


def longest_increasing(values):
    tails = [float("inf")]
    for value in values:
        place = bisect_left(tails, value)
        if tails[place] == tails[-1]:
            tails.insert(place, value)
        else:
            tails[place] = value
    return len(tails) - 1
