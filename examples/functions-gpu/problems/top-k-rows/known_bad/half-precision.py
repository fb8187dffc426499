import torch


def solution(scores, best, places, rows, cols, k):
    order = torch.sort(scores.half(), dim=1, descending=True, stable=True).indices[:, :k]
    best.copy_(torch.gather(scores, 1, order))
    places.copy_(order)
