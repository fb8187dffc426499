import numpy as np


def solution(q, k, v, out, scale, heads, n, d):
    q, k, v = (one.astype(np.float16).astype(np.float32) for one in (q, k, v))
    weights = np.exp(np.matmul(q, k.transpose(0, 2, 1)) * np.float32(scale)) * np.tri(n, dtype=np.float32)
    np.matmul(weights / weights.sum(axis=2, keepdims=True), v, out=out)
