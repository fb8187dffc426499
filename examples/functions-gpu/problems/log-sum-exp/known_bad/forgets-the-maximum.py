import torch


def solution(x, result, rows, cols):
    result.copy_(torch.log(torch.exp(x - torch.amax(x, dim=0)).sum(dim=0)))
