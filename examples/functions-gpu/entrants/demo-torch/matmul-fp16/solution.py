import torch

torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False


def solution(a, b, c, m, n, k):
    torch.matmul(a, b, out=c)
