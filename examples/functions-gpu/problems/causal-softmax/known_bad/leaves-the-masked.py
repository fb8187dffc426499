import torch


def solution(scores, weights, scale, heads, n):
    future = torch.ones((n, n), dtype=torch.bool, device=scores.device).triu(1)
    right = torch.softmax((scores * scale).masked_fill(future, float("-inf")), dim=2)
    weights.copy_(torch.where(future, weights, right))
