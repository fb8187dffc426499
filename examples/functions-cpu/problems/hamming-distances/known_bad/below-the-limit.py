import numpy as np


def solution(codes, query, distance, near, limit, n, length):
    distance[...] = np.bitwise_count(codes ^ query).sum(axis=1)
    near[...] = distance < limit
