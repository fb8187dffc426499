import numpy as np


def solution(pixels, grey, height, width):
    sums = np.full((height, width), 128, np.int16)
    for channel, weight in enumerate((77, 150, 29)):
        sums += pixels[:, :, channel] * np.int16(weight)
    grey[...] = (sums / 256).astype(np.int16)  # towards zero
