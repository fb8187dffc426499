import torch


def solution(scores, best, places, rows, cols, k):
    values, order = torch.sort(scores, dim=1, descending=True, stable=True)
    best.copy_(values[:, :k].flip(1))
    places.copy_(order[:, :k].flip(1))
