import torch


def solution(a, b, c, m, n, k):
    c[: m - 1] = torch.matmul(a[: m - 1].float(), b.float())
