"""Counts rises between neighbours only."""


def longest_increasing(values):
    longest = current = 1
    for previous, value in zip(values, values[1:]):
        current = current + 1 if value > previous else 1
        longest = max(longest, current)
    return longest
