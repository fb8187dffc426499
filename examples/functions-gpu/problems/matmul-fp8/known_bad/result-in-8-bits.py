import torch


def solution(a, b, c, m, n, k):
    c.copy_(torch.matmul(a.float(), b.float()).clamp(-448, 448).to(torch.float8_e4m3fn))
