"""The smallest of all (distance, index) pairs."""


def nearest(points, queries):
    answers = []
    for x, y in queries:
        distances = [(px - x) * (px - x) + (py - y) * (py - y) for px, py in points]
        answers.append(distances.index(min(distances)))
    return answers
