import torch


def solution(x, weight, y, epsilon, rows, cols):
    offset = x.float() - x.float().mean(dim=1, keepdim=True)
    y.copy_(offset * torch.rsqrt(offset.square().mean(dim=1, keepdim=True) + epsilon) * weight.float())
