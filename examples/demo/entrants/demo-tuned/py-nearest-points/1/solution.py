"""Square cells of about one point each, searched in growing rings around the query's cell."""

from collections import defaultdict
from math import isqrt

FARTHEST_RING = 40


class Cells:
    def __init__(self, points):
        self.points = points
        self.left, self.bottom = min(x for x, _ in points), min(y for _, y in points)
        span = max(max(x for x, _ in points) - self.left, max(y for _, y in points) - self.bottom)
        self.size = span // isqrt(len(points)) + 1
        self.cells = defaultdict(list)
        for index, (x, y) in enumerate(points):
            self.cells[self.place(x, y)].append((x, y, index))

    def place(self, x, y):
        return (x - self.left) // self.size, (y - self.bottom) // self.size

    def ring(self, column, row, radius):
        if radius == 0:
            return [(column, row)]
        sides = [(column + step, row + edge) for step in range(-radius, radius + 1) for edge in (-radius, radius)]
        return sides + [(column + edge, row + step) for step in range(1 - radius, radius) for edge in (-radius, radius)]

    def candidates(self, x, y, radius):
        if radius == FARTHEST_RING:
            return [(px, py, index) for index, (px, py) in enumerate(self.points)]
        get = self.cells.get
        return [point for cell in self.ring(*self.place(x, y), radius) for point in get(cell, ())]

    def nearest(self, x, y):
        best = None
        for radius in range(FARTHEST_RING + 1):
            # What lies in this ring or beyond is farther than radius - 1 whole cells.
            if best is not None and best[0] <= ((radius - 1) * self.size) ** 2:
                break
            found = [((px - x) ** 2 + (py - y) ** 2, index) for px, py, index in self.candidates(x, y, radius)]
            best = min(found + ([best] if best else []), default=None)
        return best[1]


def nearest(points, queries):
    cells = Cells(points)
    return [cells.nearest(x, y) for x, y in queries]
