import numpy as np


def solution(pixels, grey, height, width):
    whole = height * width // 16 * 16
    grey.reshape(-1)[:whole] = (pixels.reshape(-1, 3)[:whole] @ np.array([77, 150, 29], np.int32) + 128) >> 8
