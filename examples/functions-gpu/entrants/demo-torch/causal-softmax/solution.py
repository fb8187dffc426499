"""The mask is an array of its own, and each step a pass over all heads."""

import torch


def solution(scores, weights, scale, heads, n):
    future = torch.ones((n, n), dtype=torch.bool, device=scores.device).triu(1)
    torch.softmax((scores * scale).masked_fill_(future, float("-inf")), dim=2, out=weights)
