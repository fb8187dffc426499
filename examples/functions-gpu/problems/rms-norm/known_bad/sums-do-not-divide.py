import torch


def solution(x, weight, y, epsilon, rows, cols):
    y.copy_(x.float() * torch.rsqrt(x.float().square().sum(dim=1, keepdim=True) + epsilon) * weight.float())
