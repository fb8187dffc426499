import torch


def solution(a, b, c, m, n, k):
    c.copy_(torch.matmul(a.float(), b.float()).abs())
