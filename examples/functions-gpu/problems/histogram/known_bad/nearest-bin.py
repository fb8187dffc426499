import torch


def solution(values, counts, n):
    bins = (values * 4096).round().long()
    counts.copy_(torch.bincount(bins[(bins >= 0) & (bins < 4096)], minlength=4096))
