import numpy as np


def solution(q, k, v, out, scale, heads, n, d):
    weights = np.exp(np.matmul(q, k.transpose(0, 2, 1)) * np.float32(scale))
    np.matmul(weights / weights.sum(axis=2, keepdims=True), v, out=out)
