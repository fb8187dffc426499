import torch


def solution(values, sums, n):
    sums.copy_(values.cumsum(0, dtype=torch.float64))  # beyond 2^53 a float64 skips integers
