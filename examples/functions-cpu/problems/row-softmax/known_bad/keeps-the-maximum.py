import numpy as np


def solution(x, y, temperature, rows, cols):
    with np.errstate(all="ignore"):
        powers = np.exp(x / np.float32(temperature))
        y[...] = powers / powers.sum(axis=1, keepdims=True)
