def distance(point, query):
    return (point[0] - query[0]) ** 2 + (point[1] - query[1]) ** 2


def nearest(points, queries):
    return [min(range(len(points)), key=lambda i: distance(points[i], query)) for query in queries]
