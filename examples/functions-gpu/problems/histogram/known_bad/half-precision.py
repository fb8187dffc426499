import torch


def solution(values, counts, n):
    inside = values.half().float()
    inside = inside[(inside >= 0) & (inside < 1)]
    counts.copy_(torch.bincount((inside * 4096).long(), minlength=4096))
