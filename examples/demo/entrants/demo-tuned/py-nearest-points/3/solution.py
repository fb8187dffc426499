"""Strips of equal width; strips are visited from the query's own outwards on both sides."""


def strips_of(points):
    left = min(x for x, _ in points)
    width = (max(x for x, _ in points) - left) // 30 + 1
    strips = [[] for _ in range(31)]
    for index, (x, y) in enumerate(points):
        strips[(x - left) // width].append((x, y, index))
    return left, width, strips


def gap(x, start, width):
    """Distance along x from the query to the strip [start, start + width)."""
    return max(start - x, x - (start + width - 1), 0)


def nearest(points, queries):
    left, width, strips = strips_of(points)
    numbered = list(enumerate(strips))
    answers = []
    for x, y in queries:
        best = (float("inf"), 0)
        by_gap = sorted((gap(x, left + number * width, width), number) for number, strip in numbered if strip)
        for distance, number in by_gap:
            if distance * distance > best[0]:
                break
            near = min(((px - x) * (px - x) + (py - y) * (py - y), index) for px, py, index in strips[number])
            best = min(best, near)
        answers.append(best[1])
    return answers
