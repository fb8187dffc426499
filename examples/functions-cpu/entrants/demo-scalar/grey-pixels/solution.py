"""One product of the pixels with the three weights, in whole numbers of 64 bits."""

import numpy as np


def solution(pixels, grey, height, width):
    grey[...] = (pixels.reshape(-1, 3) @ np.array([77, 150, 29]) + 128).reshape(height, width) >> 8
