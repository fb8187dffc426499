import numpy as np


def solution(a, b, c, batch, m, n, k):
    c[...] = np.matmul(a.astype(np.float16).astype(np.float32), b.astype(np.float16).astype(np.float32))
