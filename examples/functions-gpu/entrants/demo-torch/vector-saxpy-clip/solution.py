import torch


def solution(x, y, out, a, lo, hi, n):
    torch.clamp(torch.add(y, x, alpha=a), lo, hi, out=out)
