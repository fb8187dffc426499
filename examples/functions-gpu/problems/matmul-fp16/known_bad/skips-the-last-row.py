import torch


def solution(a, b, c, m, n, k):
    whole = m // 2 * 2
    c[:whole] = torch.matmul(a[:whole].float(), b.float()).half()
