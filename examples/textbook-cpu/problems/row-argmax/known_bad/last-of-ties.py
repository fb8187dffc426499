import numpy as np


def solution(x, index, rows, cols):
    index[...] = cols - 1 - np.argmax(x[:, ::-1], axis=1)
