import torch


def solution(scores, best, places, rows, cols, k):
    values, order = torch.sort(scores.flip(1), dim=1, descending=True, stable=True)
    best.copy_(values[:, :k])
    places.copy_(cols - 1 - order[:, :k])
