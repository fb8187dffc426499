"""One pass per query, keeping the nearest so far; points too far along x are passed over."""


def nearest(points, queries):
    numbered = [(px, py, index) for index, (px, py) in enumerate(points)]
    answers = []
    for x, y in queries:
        best, limit = 0, None
        for px, py, index in numbered:
            across = (px - x) * (px - x)
            if limit is not None and across >= limit:
                continue
            distance = across + (py - y) * (py - y)
            if limit is None or distance < limit:
                best, limit = index, distance
        answers.append(best)
    return answers
