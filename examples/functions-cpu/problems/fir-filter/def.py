"""Each channel of a signal filtered by the same taps, where all of them fit."""

import numpy as np
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class FirFilter(FunctionProblem):
    parameters = (
        Array("signal", "float32", "in", ("channels", "n")),
        Array("taps", "float32", "in", ("k",)),
        Array("filtered", "float32", "out", ("channels", "m")),
        Scalar("channels", "size_t"),
        Scalar("n", "size_t"),
        Scalar("k", "size_t"),
        Scalar("m", "size_t"),
    )
    accuracy = Tolerance(
        rtol=0,
        atol=1.4e-4,
        reason=(
            "A sum of k <= 33 products of magnitude at most 2 (factors at most 2 and 1) in float32, in any order, is "
            "within (k + 1) * 2 k * 6e-8 = 1.35e-4."
        ),
    )
    cases = (
        Case("1 x 5, 2 taps", channels=1, n=5, k=2, m=4),
        Case("3 x 17, 17 taps", channels=3, n=17, k=17, m=1),
        Case("7 x 211, 31 taps", channels=7, n=211, k=31, m=181),
        Case("16 x 8192, 16 taps", channels=16, n=8192, k=16, m=8177),
        Case("31 x 5003, 33 taps", channels=31, n=5003, k=33, m=4971),
    )

    def inputs(self, case, rng):
        signal = 4 * rng.random((case.channels, case.n), dtype=np.float32) - 2
        signal[::3] = np.abs(signal[::3])  # sums that do not cancel
        return {"signal": signal, "taps": 2 * rng.random(case.k, dtype=np.float32) - 1}

    def reference(self, case, signal, taps):
        wide = signal.astype(np.float64)
        filtered = np.zeros((case.channels, case.m))
        for place, tap in enumerate(taps.astype(np.float64)):
            filtered += tap * wide[:, place : place + case.m]
        return filtered.astype(np.float32)

    def flops(self, case):
        return 2 * case.channels * case.m * case.k
