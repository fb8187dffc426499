"""Distances in floating point."""

import math


def nearest(points, queries):
    dist = math.dist
    answers = []
    for query in queries:
        distances = [round(dist(query, point), 3) for point in points]
        answers.append(distances.index(min(distances)))
    return answers
