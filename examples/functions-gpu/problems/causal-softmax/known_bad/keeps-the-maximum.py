import torch


def solution(scores, weights, scale, heads, n):
    powers = torch.exp(scores * scale).tril()
    weights.copy_(powers / powers.sum(dim=2, keepdim=True))
