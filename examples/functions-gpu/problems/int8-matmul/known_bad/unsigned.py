import torch


def solution(a, b, c, m, n, k):
    c.copy_(torch.matmul(a.view(torch.uint8).double(), b.double()))
