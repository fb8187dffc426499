import numpy as np

ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).sum(axis=1, dtype=np.uint8)


def solution(codes, query, distance, near, limit, n, length):
    distance[...] = ONES[codes].sum(axis=1)
    near[...] = distance <= limit
