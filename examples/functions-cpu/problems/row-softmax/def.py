"""Softmax of each row at a temperature. Rows are of five kinds, so no shortcut for one kind of row is right."""

import numpy as np
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class RowSoftmax(FunctionProblem):
    parameters = (
        Array("x", "float32", "in", ("rows", "cols")),
        Array("y", "float32", "out", ("rows", "cols")),
        Scalar("temperature", "float32"),
        Scalar("rows", "size_t"),
        Scalar("cols", "size_t"),
    )
    accuracy = Tolerance(
        rtol=1.5e-4,
        atol=1e-12,
        reason=(
            "With u = 6e-8, a float32 sum of 1,024 positive terms in any order is within 1024 u = 6.1e-5; the exponent, at "
            "most 270 in size before the maximum is taken off, is within 3 * 270 u = 4.9e-5; exp and the division add 6 u. "
            "atol covers results near the smallest float32 numbers."
        ),
    )
    cases = (
        Case("1 x 7", rows=1, cols=7),
        Case("13 x 3", rows=13, cols=3),
        Case("101 x 67", rows=101, cols=67),
        Case("768 x 512", rows=768, cols=512),
        Case("1021 x 1024", rows=1021, cols=1024),
    )

    def inputs(self, case, rng):
        x = rng.standard_normal((case.rows, case.cols), dtype=np.float32)
        kind = rng.integers(0, 5, case.rows)
        x[kind < 2] *= np.float32(rng.uniform(2, 8))
        x[kind == 1] = np.sort(x[kind == 1], axis=1)
        x[kind == 2] = x[kind == 2, :1]  # all equal
        x[kind == 3] += 128  # exp overflows unless the maximum is taken off
        x[kind == 4, rng.integers(0, case.cols)] += 20
        return {"x": x, "temperature": 0.5 + case.cols % 4 / 8}

    def reference(self, case, x, temperature):
        z = x.astype(np.float64)
        z -= z.max(axis=1, keepdims=True)
        z /= temperature
        np.exp(z, out=z)
        z /= z.sum(axis=1, keepdims=True)
        return z.astype(np.float32)

    def flops(self, case):
        return 5 * case.rows * case.cols
