"""Attention of several heads, where each position sees itself and those before it."""

import numpy as np
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class CausalAttention(FunctionProblem):
    parameters = (
        Array("q", "float32", "in", ("heads", "n", "d")),
        Array("k", "float32", "in", ("heads", "n", "d")),
        Array("v", "float32", "in", ("heads", "n", "d")),
        Array("out", "float32", "out", ("heads", "n", "d")),
        Scalar("scale", "float32"),
        Scalar("heads", "size_t"),
        Scalar("n", "size_t"),
        Scalar("d", "size_t"),
    )
    accuracy = Tolerance(
        rtol=0,
        atol=1e-4,
        reason=(
            "With u = 6e-8, a score of d <= 40 products of magnitude at most 2.25, times a scale of at most 0.17, is within "
            "42 u * 90 * 0.17 = 3.9e-5 in float32. Weights and their sum have that relative error: 7.8e-5. The two sums of at "
            "most 131 terms add 2 * 131 u = 1.6e-5, and exp, product and division 10 u. Values are at most 1: 9.5e-5."
        ),
    )
    cases = (
        Case("1 x 2 x 3", heads=1, n=2, d=3),
        Case("2 x 13 x 5", heads=2, n=13, d=5),
        Case("3 x 67 x 19", heads=3, n=67, d=19),
        Case("4 x 128 x 32", heads=4, n=128, d=32),
        Case("5 x 131 x 40", heads=5, n=131, d=40),
    )

    def inputs(self, case, rng):
        q, k = (3 * rng.random((2, case.heads, case.n, case.d), dtype=np.float32)) - np.float32(1.5)
        v = 2 * rng.random((case.heads, case.n, case.d), dtype=np.float32) - 1
        q[:, ::5] = np.abs(q[:, ::5])
        k[:, ::3] = np.abs(k[:, ::3])  # positions that many others heed
        return {"q": q, "k": k, "v": v, "scale": (16 + case.n % 8) / 128}

    def reference(self, case, q, k, v, scale):
        scores = np.matmul(q.astype(np.float64), k.astype(np.float64).transpose(0, 2, 1)) * scale
        scores[:, ~np.tri(case.n, dtype=bool)] = -np.inf
        scores -= scores.max(axis=2, keepdims=True)
        weights = np.exp(scores, out=scores)
        weights /= weights.sum(axis=2, keepdims=True)
        return np.matmul(weights, v.astype(np.float64)).astype(np.float32)

    def flops(self, case):
        return 4 * case.heads * case.d * case.n * (case.n + 1) / 2
