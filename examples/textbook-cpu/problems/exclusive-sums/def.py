"""Sums all elements before each one: exact, with sums beyond 32 bits and lengths that are no multiple of a block."""

import numpy as np
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class ExclusiveSums(FunctionProblem):
    parameters = (
        Array("values", "int32", "in", ("n",)),
        Array("sums", "int64", "out", ("n",)),
        Scalar("n", "size_t"),
    )
    accuracy = Exact("sums of integers")
    cases = (
        Case("3 values", n=3),
        Case("257 values", n=257),
        Case("65536 values", n=1 << 16),
        Case("1000003 values", n=1_000_003),
    )

    def inputs(self, case, rng):
        return {"values": rng.integers(-(1 << 20), 1 << 26, case.n, dtype=np.int32)}

    def reference(self, case, values):
        sums = np.cumsum(values, dtype=np.int64)
        return sums - values
