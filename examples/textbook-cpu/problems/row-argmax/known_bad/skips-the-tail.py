import numpy as np


def solution(x, index, rows, cols):
    index[...] = np.argmax(x[:, : max(cols - cols % 4, 1)], axis=1)
