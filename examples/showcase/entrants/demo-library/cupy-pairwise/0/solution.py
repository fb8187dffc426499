"""The binomial formula around cuBLAS's product."""

import cupy


def pairwise(points, queries, out):
    cupy.matmul(points, queries.T, out=out)
    out *= -2
    out += cupy.square(points).sum(axis=1)[:, None]
    out += cupy.square(queries).sum(axis=1)[None, :]
    cupy.maximum(out, 0, out=out)
