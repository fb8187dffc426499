import torch


def solution(scores, weights, scale, heads, n):
    future = torch.ones((n, n), dtype=torch.bool, device=scores.device).triu(1)
    z = (scores * scale).masked_fill(future, float("-inf"))
    weights.copy_(torch.softmax(z.bfloat16().float(), dim=2))
