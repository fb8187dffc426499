"""Broadcasting, by portions of the points so that the differences fit into memory."""

import cupy

PORTION = 256


def pairwise(points, queries, out):
    for start in range(0, len(points), PORTION):
        some = points[start : start + PORTION]
        differences = some[:, None, :] - queries[None, :, :]
        out[start : start + PORTION] = (differences * differences).sum(axis=2)
