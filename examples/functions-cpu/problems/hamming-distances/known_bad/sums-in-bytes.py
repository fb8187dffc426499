import numpy as np


def solution(codes, query, distance, near, limit, n, length):
    distance[...] = np.bitwise_count(codes ^ query).sum(axis=1, dtype=np.uint8)
    near[...] = distance <= limit
