import torch

ROWS = 8192


def solution(x, weight, y, epsilon, rows, cols):
    for first in range(0, rows, ROWS):  # bounds the memory of the float32 copies
        part = x[first : first + ROWS].float()
        scale = torch.rsqrt(part.square().mean(dim=1, keepdim=True) + epsilon)
        y[first : first + ROWS] = part * scale * weight
