"""The function to implement, in a file named solution.py."""

import cupy


def pairwise(points: cupy.ndarray, queries: cupy.ndarray, out: cupy.ndarray) -> None:
    """Write the squared Euclidean distance of points[i] and queries[j] to out[i, j].

    The arrays are contiguous, of type float32 and on the GPU: `points` has shape (m, d), `queries` (n, d), `out` (m, n).
    """
    raise NotImplementedError
