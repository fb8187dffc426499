import torch


def solution(row_starts, columns, values, x, y, rows, cols, entries):
    products = values.bfloat16() * x.bfloat16()[columns]
    totals = torch.nn.functional.pad(torch.cumsum(products, dim=0, dtype=torch.float64), (1, 0))
    y.copy_(totals[row_starts[1:]] - totals[row_starts[:-1]])
