import torch


def solution(values, sums, n):
    sums.copy_(values.cumsum(0).to(torch.int32))
