import torch


def rounded(x):
    """float32 with the 10 bits of fraction that TF32 has."""
    return ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def solution(a, b, c, m, n, k):
    c.copy_(torch.matmul(rounded(a).double(), rounded(b).double()))
