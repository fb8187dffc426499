import torch

torch.backends.cuda.matmul.allow_tf32 = False


def solution(a, b, c, m, n, k):
    torch.matmul(a, b, out=c)
