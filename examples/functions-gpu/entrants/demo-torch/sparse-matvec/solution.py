"""All products, and one atomic addition for each."""

import torch


def solution(row_starts, columns, values, x, y, rows, cols, entries):
    row_of_entry = torch.repeat_interleave(row_starts.diff(), output_size=entries)
    y.zero_().index_add_(0, row_of_entry, values * x[columns])
