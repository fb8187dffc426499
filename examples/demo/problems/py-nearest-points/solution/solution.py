"""Every query against every point."""


def nearest(points, queries):
    answers = []
    for x, y in queries:
        best, best_distance = 0, None
        for index, (px, py) in enumerate(points):
            distance = (px - x) * (px - x) + (py - y) * (py - y)
            if best_distance is None or distance < best_distance:
                best, best_distance = index, distance
        answers.append(best)
    return answers
