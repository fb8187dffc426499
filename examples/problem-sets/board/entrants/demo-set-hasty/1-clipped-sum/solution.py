import torch


def solution(a, b, total, limit, n):
    torch.add(a, b, out=total)
