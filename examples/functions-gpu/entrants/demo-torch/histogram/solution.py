"""The bin of every number in memory, with one bin more on either side, and torch's count of them."""

import torch

BINS = 4096


def solution(values, counts, n):
    bins = (values * BINS).floor_().clamp_(-1, BINS).add_(1).to(torch.int32)
    counts.copy_(torch.bincount(bins, minlength=BINS + 2)[1:-1])
