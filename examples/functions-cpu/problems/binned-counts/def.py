"""Counts integers in bins of equal width, and those in no bin: exact, with values on the edges and bins that fill up."""

import numpy as np
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar

FAR = 1 << 30


class BinnedCounts(FunctionProblem):
    parameters = (
        Array("values", "int32", "in", ("n",)),
        Array("counts", "int64", "out", ("bins",)),
        Array("outside", "int64", "out", (1,)),
        Scalar("lower", "int32"),
        Scalar("width", "int32"),
        Scalar("n", "size_t"),
        Scalar("bins", "size_t"),
    )
    accuracy = Exact("counts are integers")
    cases = (
        Case("1 value, 2 bins", n=1, bins=2),
        Case("97 values, 5 bins", n=97, bins=5),
        Case("1009 values, 64 bins", n=1009, bins=64),
        Case("524288 values, 256 bins", n=1 << 19, bins=256),
        Case("1000003 values, 4093 bins", n=1_000_003, bins=4093),
    )

    def inputs(self, case, rng):
        lower, width = 1000 - 3 * case.bins, 3 + case.bins % 97
        span = case.bins * width
        values = rng.integers(lower - span // 4, lower + span + span // 4, case.n, dtype=np.int32)
        edges = values[0::4]
        edges -= (edges - lower) % width + rng.integers(0, 2, edges.size, dtype=np.int32)
        full = values[1::4]  # in one bin
        full[:] = lower + width * int(rng.integers(0, case.bins)) + rng.integers(0, width, full.size, dtype=np.int32)
        far = values[2::64]
        far[:] = rng.integers(-FAR, FAR, far.size, dtype=np.int32)
        return {"values": values, "lower": lower, "width": width}

    def reference(self, case, values, lower, width):
        index = (values - np.int32(lower)) // np.int32(width)
        inside = (index >= 0) & (index < case.bins)
        counts = np.bincount(index[inside], minlength=case.bins)
        return counts.astype(np.int64), np.array([case.n - counts.sum()], dtype=np.int64)
