import numpy as np


def solution(pixels, grey, height, width):
    grey[...] = (pixels @ np.array([77, 150, 29], np.int32)) >> 8
