"""The logarithm of the sum of the powers of e, over each column; columns lie far apart and can be very long."""

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class LogSumExp(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ("rows", "cols")),
        Array("result", "float32", "out", ("cols",)),
        Scalar("rows", "size_t"),
        Scalar("cols", "size_t"),
    )
    accuracy = Tolerance(
        rtol=3e-7,
        atol=2e-4,
        reason=(
            "With u = 6e-8, exponents of terms that matter are within 32 u = 2e-6. A sum of positive terms from running sums of "
            "2,048 terms and running sums of 1,024 of these is within 3072 u = 1.8e-4, which the logarithm passes on as it is. "
            "rtol covers the rounding of the result and of the largest number added to the logarithm."
        ),
    )
    cases = (
        Case("3 x 1", rows=3, cols=1),
        Case("129 x 31", rows=129, cols=31),
        Case("3001 x 257", rows=3001, cols=257),
        Case("16384 x 16384", rows=16_384, cols=16_384),
        Case("2000003 x 149", rows=2_000_003, cols=149),
    )

    def inputs(self, case, rng):
        x = torch.randn((case.rows, case.cols), generator=rng, device=self.device)
        x[:, 1::4] += 192  # powers overflow unless the maximum is taken off
        x[:, 2::4] -= 192  # powers are 0 unless the maximum is taken off
        x[:, 3::4] *= 8  # few terms matter
        x[-1, ::4] += 10  # the last term is large
        large = torch.randint(0, case.rows, (1, case.cols), generator=rng, device=self.device)
        x.scatter_add_(0, large, torch.full_like(x[:1], 10.0))  # in each column one term that no sample of rows may miss
        return {"x": x}

    def reference(self, case, x):
        result = torch.empty((case.cols,), dtype=torch.float32, device=x.device)
        width = max(1, (1 << 26) // case.rows)
        for first in range(0, case.cols, width):  # bounds the memory of the float64 copies
            result[first : first + width] = torch.logsumexp(x[:, first : first + width].double(), dim=0).float()
        return result

    def flops(self, case):
        return 3 * case.rows * case.cols
