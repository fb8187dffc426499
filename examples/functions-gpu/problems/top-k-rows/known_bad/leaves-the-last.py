import torch


def solution(scores, best, places, rows, cols, k):
    values, order = torch.sort(scores, dim=1, descending=True, stable=True)
    best[:, : k - 1] = values[:, : k - 1]
    places[:, : k - 1] = order[:, : k - 1].to(places.dtype)
