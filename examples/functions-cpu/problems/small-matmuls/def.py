"""Products of many small matrices in single precision."""

import numpy as np
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class SmallMatmuls(FunctionProblem):
    parameters = (
        Array("a", "float32", "in", ("batch", "m", "k")),
        Array("b", "float32", "in", ("batch", "k", "n")),
        Array("c", "float32", "out", ("batch", "m", "n")),
        Scalar("batch", "size_t"),
        Scalar("m", "size_t"),
        Scalar("n", "size_t"),
        Scalar("k", "size_t"),
    )
    accuracy = Tolerance(
        rtol=0,
        atol=1.3e-4,
        reason=(
            "A sum of k <= 32 products of magnitude at most 2 (factors at most 2 and 1) in float32, in any order, is "
            "within (k + 1) * 2 k * 6e-8 = 1.3e-4."
        ),
    )
    cases = (
        Case("1 of 1 x 1 x 1", batch=1, m=1, n=1, k=1),
        Case("3 of 5 x 7 x 2", batch=3, m=5, n=7, k=2),
        Case("11 of 17 x 3 x 31", batch=11, m=17, n=3, k=31),
        Case("1024 of 32 x 32 x 32", batch=1024, m=32, n=32, k=32),
        Case("2053 of 19 x 23 x 29", batch=2053, m=19, n=23, k=29),
    )

    def inputs(self, case, rng):
        a = 4 * rng.random((case.batch, case.m, case.k), dtype=np.float32) - 2
        b = 2 * rng.random((case.batch, case.k, case.n), dtype=np.float32) - 1
        a[::4], b[::4] = np.abs(a[::4]), np.abs(b[::4])  # sums that do not cancel
        return {"a": a, "b": b}

    def reference(self, case, a, b):
        return np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)

    def flops(self, case):
        return 2 * case.batch * case.m * case.n * case.k
