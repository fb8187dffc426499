import torch


def solution(a, b, c, m, n, k):
    c.zero_()
    for first in range(0, k, 128):  # the sum is rounded after each part
        part = slice(first, first + 128)
        c += torch.matmul(a[:, part].float(), b[part].float()).half()
