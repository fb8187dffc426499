import torch


def solution(scores, best, places, rows, cols, k):
    best.copy_(torch.topk(scores, k, dim=1).values)
