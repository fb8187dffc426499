"""pass@k: the chance that at least one of k samples passes, estimated without bias (Chen et al. 2021)."""

import numpy as np
import numpy.typing as npt

from scoring.arrays import FloatArray


def pass_at_k(n: npt.ArrayLike, c: npt.ArrayLike, k: int) -> FloatArray:
    """1 − Π (1 − k/i) for i from n−c+1 to n, with n samples and c passes; NaN if n < k.

    `n` and `c` broadcast; the result has their common shape. Raises ValueError if k < 1, c < 0 or c > n.
    """
    if k < 1:
        raise ValueError(f"pass@k needs k of at least 1, not {k}")
    samples, passed = np.broadcast_arrays(np.asarray(n, dtype=np.int64), np.asarray(c, dtype=np.int64))
    if np.any((passed < 0) | (passed > samples)):
        raise ValueError("pass@k needs 0 <= c <= n: a problem has more passes than samples, or a negative count")
    return _by_distinct_pair(samples, passed, k)


def _by_distinct_pair(samples: npt.NDArray[np.int64], passed: npt.NDArray[np.int64], k: int) -> FloatArray:
    # A board holds few distinct (n, c) pairs, so the product is taken once for each of them.
    base = int(samples.max(initial=0)) + 1
    codes, where = np.unique(samples.ravel() * base + passed.ravel(), return_inverse=True)
    values = np.array([_of_one(int(code) // base, int(code) % base, k) for code in codes], dtype=np.float64)
    return values[where].reshape(samples.shape)


def _of_one(n: int, c: int, k: int) -> float:
    if n < k:
        return float("nan")
    if n - c < k:
        return 1.0
    return 1.0 - float(np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


def most_trials(samples: FloatArray, k: int) -> FloatArray:
    """As how many trials of pass@k so many samples of a problem count at most: 2n ÷ (k + 1).

    Where every problem has a pass among any k of its samples, their spread says nothing of those that would not. The
    factor was chosen by simulated coverage (`python -m benchmarks coverage`).
    """
    return 2 * samples / (k + 1)
