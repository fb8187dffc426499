import torch


def solution(a, b, c, m, n, k):
    left, right = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn)
    c.copy_(torch.matmul(left.float(), right.float()))
