import numpy as np


def solution(x, y, temperature, rows, cols):
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    y[...] = powers / powers.sum(axis=1, keepdims=True)
