"""A Fenwick tree of prefix maxima over value ranks."""


class PrefixMaxima:
    def __init__(self, size):
        self.cells = [0] * (size + 1)

    def up_to(self, place):
        best = 0
        while place:
            if self.cells[place] > best:
                best = self.cells[place]
            place &= place - 1
        return best

    def put(self, place, value):
        while place < len(self.cells):
            if self.cells[place] < value:
                self.cells[place] = value
            place += place & -place


def longest_increasing(values):
    order = {value: place + 1 for place, value in enumerate(sorted(set(values)))}
    maxima = PrefixMaxima(len(order))
    for value in values:
        maxima.put(order[value], maxima.up_to(order[value] - 1) + 1)
    return maxima.up_to(len(order))
