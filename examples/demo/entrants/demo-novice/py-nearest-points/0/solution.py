def nearest(points, queries):
    answers = []
    for query in queries:
        best = 0
        best_distance = (points[0][0] - query[0]) ** 2 + (points[0][1] - query[1]) ** 2
        for i in range(1, len(points)):
            distance = (points[i][0] - query[0]) ** 2 + (points[i][1] - query[1]) ** 2
            if distance < best_distance:
                best = i
                best_distance = distance
        answers.append(best)
    return answers
