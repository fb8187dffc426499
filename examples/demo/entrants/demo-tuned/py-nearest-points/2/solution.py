"""Points by x, first to the right and then to the left of the query."""

from bisect import bisect_left


def nearest(points, queries):
    order = sorted(range(len(points)), key=lambda index: points[index])
    xs = [points[index][0] for index in order]
    answers = []
    for x, y in queries:
        best, best_distance = order[0], float("inf")
        start = bisect_left(xs, x)
        for places in (range(start, len(order)), range(start - 1, -1, -1)):
            for place in places:
                across = (xs[place] - x) ** 2
                if across >= best_distance:
                    break
                distance = across + (points[order[place]][1] - y) ** 2
                if distance < best_distance:
                    best, best_distance = order[place], distance
        answers.append(best)
    return answers
