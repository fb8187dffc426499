import torch


def solution(x, result, rows, cols):
    result.copy_(torch.log(torch.exp(x).sum(dim=0)))
