"""Slow on purpose: every bit becomes a byte of its own before the bytes are added."""

import numpy as np


def solution(codes, query, distance, near, limit, n, length):
    distance[...] = np.unpackbits(codes ^ query, axis=1).sum(axis=1, dtype=np.int32)
    near[...] = distance <= limit
