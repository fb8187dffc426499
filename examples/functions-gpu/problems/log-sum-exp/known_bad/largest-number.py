import torch


def solution(x, result, rows, cols):
    result.copy_(torch.amax(x, dim=0))
