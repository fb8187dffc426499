import torch


def solution(scores, best, places, rows, cols, k):
    values, order = torch.sort(scores, dim=1, descending=True, stable=True)
    best.copy_(values[:, :k])
    places.copy_(order[:, :k] + cols * torch.arange(rows, device=places.device)[:, None])
