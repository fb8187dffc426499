import torch


def solution(row_starts, columns, values, x, y, rows, cols, entries):
    totals = torch.nn.functional.pad(torch.cumsum(values.double() * x[columns], dim=0), (1, 0))
    lasts = torch.minimum(row_starts[1:], row_starts[:-1] + 128)
    y.copy_(totals[lasts] - totals[row_starts[:-1]])
