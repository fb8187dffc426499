import torch


def solution(x, weight, y, batch, channels, height, width):
    y.zero_()
    for row in range(3):
        for col in range(3):
            y.add_(x.roll((1 - row, 1 - col), (2, 3)) * weight[:, row, col, None, None])
