import numpy as np


def solution(signal, taps, filtered, channels, n, k, m):
    windows = np.lib.stride_tricks.sliding_window_view(signal.astype(np.float16), k, axis=1)
    filtered[...] = windows.astype(np.float32) @ taps.astype(np.float16).astype(np.float32)
