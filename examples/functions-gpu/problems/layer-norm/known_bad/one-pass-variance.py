import torch


def solution(x, gamma, beta, y, epsilon, rows, cols):
    mean = x.mean(dim=1, keepdim=True)
    variance = x.square().mean(dim=1, keepdim=True) - mean.square()
    y.copy_((x - mean) * torch.rsqrt(variance.clamp(min=0) + epsilon) * gamma + beta)
