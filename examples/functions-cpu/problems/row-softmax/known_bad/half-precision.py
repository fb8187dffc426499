import numpy as np


def solution(x, y, temperature, rows, cols):
    z = (x - x.max(axis=1, keepdims=True)).astype(np.float16) / np.float16(temperature)
    powers = np.exp(z)
    y[...] = powers / powers.sum(axis=1, keepdims=True, dtype=np.float32)
