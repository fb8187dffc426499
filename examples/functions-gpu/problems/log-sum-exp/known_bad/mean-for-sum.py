import torch


def solution(x, result, rows, cols):
    largest = torch.amax(x, dim=0)
    result.copy_(largest + torch.log(torch.exp(x - largest).mean(dim=0)))
