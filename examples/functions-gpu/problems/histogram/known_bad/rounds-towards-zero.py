import torch


def solution(values, counts, n):
    bins = (values * 4096).long()  # numbers just below 0 get bin 0
    counts.copy_(torch.bincount(bins[(bins >= 0) & (bins < 4096)], minlength=4096))
