import torch


def solution(a, b, c, m, n, k):
    c.copy_(torch.matmul(a.view(torch.int8).float(), b.view(torch.int8).float()))
