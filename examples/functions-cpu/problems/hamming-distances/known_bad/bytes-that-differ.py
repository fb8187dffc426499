def solution(codes, query, distance, near, limit, n, length):
    distance[...] = (codes != query).sum(axis=1)
    near[...] = distance <= limit
