"""Division of each row by its root mean square, times a weight: bfloat16 in and out, float32 in between."""

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class RmsNorm(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "bfloat16", "in", ("rows", "cols")),
        Array("weight", "bfloat16", "in", ("cols",), role="weight"),
        Array("y", "bfloat16", "out", ("rows", "cols")),
        Scalar("epsilon", "float32"),
        Scalar("rows", "size_t"),
        Scalar("cols", "size_t"),
    )
    accuracy = Tolerance(
        rtol=2**-7,
        atol=1e-12,
        reason=(
            "With u = 6e-8, a mean of squares from running sums of at most 1,024 terms and a tree is within 1040 u = 6e-5, so "
            "a float32 result is within 3e-5. It can round to the other side of a bfloat16 boundary, which is one step, at "
            "most 2^-7 of the value. atol covers nothing but results of 0."
        ),
    )
    cases = (
        Case("1 x 7", rows=1, cols=7),
        Case("13 x 129", rows=13, cols=129),
        Case("509 x 1000", rows=509, cols=1000),
        Case("32768 x 8192", rows=32_768, cols=8192),
        Case("100003 x 5120", rows=100_003, cols=5120),
    )

    def inputs(self, case, rng):
        x = torch.randn((case.rows, case.cols), generator=rng, device=self.device)
        x[1::4] *= 512  # squares are beyond float16
        x[2::4] *= 0.003  # a mean of squares of the size of epsilon
        x[3::8, : case.cols // 2] *= 16
        weight = 0.5 + torch.rand((case.cols,), generator=rng, device=self.device)
        return {"x": x.to(torch.bfloat16), "weight": weight.to(torch.bfloat16), "epsilon": 1e-5}

    def reference(self, case, x, weight, epsilon):
        y = torch.empty_like(x)
        for first in range(0, case.rows, 8192):  # bounds the memory of the float64 copies
            part = x[first : first + 8192].double()
            scale = torch.rsqrt(part.square().mean(dim=1, keepdim=True) + epsilon)
            y[first : first + 8192] = (part * scale * weight).to(torch.bfloat16)
        return y

    def flops(self, case):
        return 4 * case.rows * case.cols
