import numpy as np


def solution(signal, taps, filtered, channels, n, k, m):
    windows = np.lib.stride_tricks.sliding_window_view(signal, k, axis=1)
    filtered[...] = windows[:, :, :-1] @ taps[:-1]
