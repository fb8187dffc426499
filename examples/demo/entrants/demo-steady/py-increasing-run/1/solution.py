"""Piles with a binary search written out."""


def place_for(tails, value):
    low, high = 0, len(tails)
    while low < high:
        middle = (low + high) >> 1
        if tails[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def longest_increasing(values):
    tails = []
    for value in values:
        place = place_for(tails, value)
        if place < len(tails):
            tails[place] = value
        else:
            tails.append(value)
    return len(tails)
