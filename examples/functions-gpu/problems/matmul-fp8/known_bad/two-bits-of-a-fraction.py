import torch


def solution(a, b, c, m, n, k):
    c.copy_(torch.matmul(a.float().to(torch.float8_e5m2).float(), b.float()))
