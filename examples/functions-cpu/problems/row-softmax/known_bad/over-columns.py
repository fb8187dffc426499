import numpy as np


def solution(x, y, temperature, rows, cols):
    powers = np.exp((x - x.max(axis=0)) / np.float32(temperature))
    y[...] = powers / powers.sum(axis=0)
