import torch


def solution(values, sums, n):
    torch.cumsum(values, dim=0, out=sums)
