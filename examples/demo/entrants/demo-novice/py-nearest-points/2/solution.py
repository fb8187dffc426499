def nearest(points, queries):
    answers = []
    for x, y in queries:
        distances = [abs(px - x) + abs(py - y) for px, py in points]
        answers.append(distances.index(min(distances)))
    return answers
