import torch


def solution(x, weight, y, batch, channels, height, width):
    padded = torch.nn.functional.pad(x, (1, 1, 1, 1), mode="replicate")
    y.zero_()
    for row in range(3):
        for col in range(3):
            y.add_(padded[:, :, row : row + height, col : col + width] * weight[:, row, col, None, None])
