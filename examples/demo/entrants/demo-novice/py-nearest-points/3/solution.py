def nearest(points, queries):
    answers = []
    for x, y in queries:
        best = 0
        for i, (px, py) in enumerate(points):
            if (px - x) ** 2 + (py - y) ** 2 < (points[best][0] - x) ** 2 + (points[best][1] - y) ** 2:
                best = i
        answers.append(points[best])
    return answers
