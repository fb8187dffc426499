import torch


def solution(values, starts, sums, n, segments):
    totals = torch.nn.functional.pad(torch.cumsum(values, dim=0, dtype=torch.float64), (1, 0))
    filled = starts[1:] > starts[:-1]
    sums[filled] = (totals[starts[1:]] - totals[starts[:-1]])[filled].float()
