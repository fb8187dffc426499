"""Points by x; a search outwards from the query stops once x alone is farther than the best."""

from bisect import bisect_left


def search(order, xs, x, y):
    place = bisect_left(xs, x)
    best = None
    for steps in (range(place, len(xs)), range(place - 1, -1, -1)):
        for step in steps:
            px, py, index = order[step]
            across = (px - x) * (px - x)
            if best is not None and across > best[0]:
                break
            found = (across + (py - y) * (py - y), index)
            if best is None or found < best:
                best = found
    return best[1]


def nearest(points, queries):
    order = sorted((x, y, index) for index, (x, y) in enumerate(points))
    xs = [x for x, _, _ in order]
    return [search(order, xs, x, y) for x, y in queries]
