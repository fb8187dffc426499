import torch


def solution(scores, best, places, rows, cols, k):
    values, order = torch.sort(scores[:, : cols // 4 * 4], dim=1, descending=True, stable=True)
    best.copy_(values[:, :k])
    places.copy_(order[:, :k])
