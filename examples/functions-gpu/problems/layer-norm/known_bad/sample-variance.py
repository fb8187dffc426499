import torch


def solution(x, gamma, beta, y, epsilon, rows, cols):
    variance = x.var(dim=1, keepdim=True, correction=1)
    y.copy_((x - x.mean(dim=1, keepdim=True)) * torch.rsqrt(variance + epsilon) * gamma + beta)
