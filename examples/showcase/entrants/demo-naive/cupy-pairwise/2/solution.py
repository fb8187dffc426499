"""The binomial formula, and nothing that keeps small distances from falling below zero."""

import cupy


def pairwise(points, queries, out):
    point_sizes = (points * points).sum(axis=1)
    query_sizes = (queries * queries).sum(axis=1)
    products = cupy.dot(points, queries.T)
    out[...] = point_sizes[:, None] - 2 * products + query_sizes[None, :]
