import torch


def solution(values, counts, n):
    bins = (values * 4096).ceil().long() - 1  # an edge belongs to the bin below it
    counts.copy_(torch.bincount(bins[(bins >= 0) & (bins < 4096)], minlength=4096))
