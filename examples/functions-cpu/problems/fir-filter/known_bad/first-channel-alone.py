import numpy as np


def solution(signal, taps, filtered, channels, n, k, m):
    filtered[...] = np.correlate(signal[0], taps, mode="valid")
