"""Adds a bias to each row and applies the exact GELU: bfloat16 in and out, float32 in between."""

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class BiasGelu(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "bfloat16", "in", ("rows", "cols")),
        Array("bias", "bfloat16", "in", ("cols",), role="weight"),
        Array("y", "bfloat16", "out", ("rows", "cols")),
        Scalar("rows", "size_t"),
        Scalar("cols", "size_t"),
    )
    accuracy = Tolerance(
        rtol=2**-7,
        atol=2e-6,
        reason=(
            "A result that float32 rounds to the other side of a bfloat16 boundary differs by one step, at most 2^-7 of the "
            "value. 1 + erf cancels for negative sums: 4 roundings of 6e-8 times half of a sum of at most 6 in size, beyond "
            "which results are smaller than atol."
        ),
    )
    computes_in = "fp32"
    fastest_dtype = "fp32"
    cases = (
        Case("1 x 7", rows=1, cols=7),
        Case("13 x 129", rows=13, cols=129),
        Case("509 x 1000", rows=509, cols=1000),
        Case("16384 x 16384", rows=16_384, cols=16_384),
        Case("24571 x 12288", rows=24_571, cols=12_288),
    )

    def inputs(self, case, rng):
        x = torch.randn((case.rows, case.cols), generator=rng, device=self.device)
        x[::3] *= 2
        bias = torch.randn((case.cols,), generator=rng, device=self.device)
        return {"x": x.to(torch.bfloat16), "bias": bias.to(torch.bfloat16)}

    def reference(self, case, x, bias):
        y = torch.empty_like(x)
        for first in range(0, case.rows, 4096):  # bounds the memory of the float64 copies
            total = x[first : first + 4096].double() + bias.double()
            y[first : first + 4096] = (total / 2 * torch.special.erfc(total * -(0.5**0.5))).to(torch.bfloat16)
        return y

    def flops(self, case):
        return 5 * case.rows * case.cols
