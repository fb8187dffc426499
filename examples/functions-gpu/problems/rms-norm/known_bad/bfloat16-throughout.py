import torch


def solution(x, weight, y, epsilon, rows, cols):
    scale = torch.rsqrt(x.float().square().mean(dim=1, keepdim=True) + epsilon)
    y.copy_(x * scale.bfloat16() * weight)
