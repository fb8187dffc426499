import torch


def solution(x, result, rows, cols):
    largest = torch.amax(x, dim=0)
    result.copy_(largest + torch.log2(torch.exp2(x - largest).sum(dim=0)))
