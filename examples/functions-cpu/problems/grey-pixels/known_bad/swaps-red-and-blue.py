import numpy as np


def solution(pixels, grey, height, width):
    grey[...] = (pixels @ np.array([29, 150, 77], np.int32) + 128) >> 8
