import torch


def solution(values, starts, sums, n, segments):
    totals = torch.nn.functional.pad(torch.cumsum(values.bfloat16(), dim=0, dtype=torch.float64), (1, 0))
    sums.copy_(totals[starts[1:]] - totals[starts[:-1]])
