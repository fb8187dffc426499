import torch


def solution(a, b, c, m, n, k):
    half = k // 2  # each half of the products is rounded before they are added
    left = torch.matmul(a[:, :half].float(), b[:half].float()).half()
    right = torch.matmul(a[:, half:].float(), b[half:].float()).half()
    torch.add(left, right, out=c)
