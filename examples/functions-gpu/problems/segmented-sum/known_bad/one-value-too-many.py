import torch


def solution(values, starts, sums, n, segments):
    totals = torch.nn.functional.pad(torch.cumsum(values, dim=0, dtype=torch.float64), (1, 0))
    sums.copy_(totals[(starts[1:] + 1).clamp(max=n)] - totals[starts[:-1]])
