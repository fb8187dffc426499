"""The library's min over a list of squared distances."""


def squared(px, py, x, y):
    dx, dy = px - x, py - y
    return dx * dx + dy * dy


def nearest(points, queries):
    columns = list(zip(*points))
    answers = []
    for x, y in queries:
        distances = [(px - x) ** 2 + (py - y) ** 2 for px, py in zip(*columns)]
        nearest_index = min(range(len(points)), key=distances.__getitem__)
        assert distances[nearest_index] == squared(*points[nearest_index], x, y)
        answers.append(nearest_index)
    return answers
