import torch


def solution(a, b, c, m, n, k):
    c.copy_(torch.matmul(a.bfloat16().float(), b.bfloat16().float()))
