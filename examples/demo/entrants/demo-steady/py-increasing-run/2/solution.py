"""Piles, with equal values taken as increasing."""


def longest_increasing(values):
    tails = []
    for value in values:
        low, high = 0, len(tails)
        while low < high:
            middle = (low + high) // 2
            if value < tails[middle]:
                high = middle
            else:
                low = middle + 1
        tails[low : low + 1] = [value]
    return len(tails)
