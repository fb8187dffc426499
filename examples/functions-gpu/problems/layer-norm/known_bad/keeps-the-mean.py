import torch


def solution(x, gamma, beta, y, epsilon, rows, cols):
    y.copy_(x * torch.rsqrt(x.square().mean(dim=1, keepdim=True) + epsilon) * gamma + beta)
