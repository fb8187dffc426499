import torch


def solution(values, counts, n):
    bins = (values * 4096).floor().clamp(0, 4095)
    counts.copy_(torch.bincount(bins.long(), minlength=4096))
