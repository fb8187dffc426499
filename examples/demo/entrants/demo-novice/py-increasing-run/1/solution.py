from bisect import bisect_left


def longest_increasing(values):
    piles = []
    for value in values:
        tops = [pile[-1] for pile in piles[-1:]]
        if not piles or tops[0] < value:
            piles.append([value])
        else:
            place = bisect_left(piles, [value])
            piles[place] = [value]
    return len(piles)
