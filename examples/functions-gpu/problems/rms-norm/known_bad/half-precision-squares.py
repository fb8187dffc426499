import torch


def solution(x, weight, y, epsilon, rows, cols):
    mean = x.half().square().float().mean(dim=1, keepdim=True)
    y.copy_(x.float() * torch.rsqrt(mean + epsilon) * weight.float())
