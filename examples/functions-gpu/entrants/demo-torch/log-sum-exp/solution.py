import torch


def solution(x, result, rows, cols):
    torch.logsumexp(x, dim=0, out=result)
