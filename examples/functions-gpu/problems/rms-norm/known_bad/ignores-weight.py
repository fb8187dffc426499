import torch


def solution(x, weight, y, epsilon, rows, cols):
    y.copy_(x.float() * torch.rsqrt(x.float().square().mean(dim=1, keepdim=True) + epsilon))
