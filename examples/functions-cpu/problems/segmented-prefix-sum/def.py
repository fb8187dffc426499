"""Running sums of 64-bit integers that start anew at flags: exact, beyond what 32-bit integers or doubles hold."""

import numpy as np
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class SegmentedPrefixSum(FunctionProblem):
    parameters = (
        Array("values", "int64", "in", ("n",)),
        Array("restart", "bool", "in", ("n",), role="structure"),
        Array("sums", "int64", "out", ("n",)),
        Scalar("n", "size_t"),
    )
    accuracy = Exact("sums of integers below 2^62 in size")
    cases = (
        Case("1", n=1),
        Case("31", n=31),
        Case("1009", n=1009),
        Case("262144", n=1 << 18),
        Case("700001", n=700_001),
    )

    def inputs(self, case, rng):
        values = rng.integers(-(1 << 41), 1 << 42, case.n)  # the mean is positive: long sums pass 2^53
        restart = rng.random(case.n) < 10.0 ** -rng.uniform(0.3, 5)
        first = rng.integers(0, case.n - case.n // 2)
        restart[first : first + case.n // 2] = False
        return {"values": values, "restart": restart}

    def reference(self, case, values, restart):
        totals = np.cumsum(values)
        before = totals - values
        last = np.maximum.accumulate(np.where(restart, np.arange(case.n), -1))
        return totals - np.where(last >= 0, before[last], 0)
