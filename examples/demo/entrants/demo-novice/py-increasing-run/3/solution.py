from bisect import bisect_left

def longest_increasing(values):
    tails = []
    for value in values:
        place = bisect_left(tails, value)
        if place == len(tails):
            tails.append(value)
        else
            tails[place] = value
    return len(tails)
