"""All products at once, then one sum for each row that has entries."""

import numpy as np


def solution(row_starts, columns, values, x, y, rows, cols, entries):
    products = x.take(columns)
    products *= values
    filled = row_starts[:-1] < row_starts[1:]
    y[...] = 0
    y[filled] = np.add.reduceat(products, row_starts[:-1][filled])
