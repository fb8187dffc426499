"""Differences of a running sum in float64."""

import torch


def solution(values, starts, sums, n, segments):
    totals = torch.zeros(n + 1, dtype=torch.float64, device=values.device)
    torch.cumsum(values.double(), dim=0, out=totals[1:])
    sums.copy_(totals[starts[1:]] - totals[starts[:-1]])
