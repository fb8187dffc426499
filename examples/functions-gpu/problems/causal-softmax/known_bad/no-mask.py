import torch


def solution(scores, weights, scale, heads, n):
    weights.copy_(torch.softmax(scores * scale, dim=2))
