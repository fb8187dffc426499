import numpy as np


def solution(grid, rate, steps, rows, cols):
    for _ in range(steps):
        around = np.roll(grid, 1, 0) + np.roll(grid, -1, 0) + np.roll(grid, 1, 1) + np.roll(grid, -1, 1)
        grid += np.float32(rate) * (around - 4 * grid)
