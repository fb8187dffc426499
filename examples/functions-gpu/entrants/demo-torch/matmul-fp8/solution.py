"""A product in TF32, which holds numbers of four bits exactly."""

import torch

torch.backends.cuda.matmul.allow_tf32 = True


def solution(a, b, c, m, n, k):
    torch.matmul(a.float(), b.float(), out=c)
