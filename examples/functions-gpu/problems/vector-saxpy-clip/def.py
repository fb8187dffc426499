"""A scaled vector plus another, clipped to a range: one multiplication, one addition and two comparisons an element."""

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class VectorSaxpyClip(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ("n",)),
        Array("y", "float32", "in", ("n",)),
        Array("out", "float32", "out", ("n",)),
        Scalar("a", "float32"),
        Scalar("lo", "float32"),
        Scalar("hi", "float32"),
        Scalar("n", "size_t"),
    )
    accuracy = Tolerance(
        rtol=0,
        atol=1e-6,
        reason=(
            "With u = 6e-8, a product of at most 7 in size and a sum that is not clipped, of at most 2.25, are rounded once "
            "each, and the expected result once more: (7 + 2.25 + 2.25) u = 7e-7. A fused multiply-add is within 3e-7."
        ),
    )
    cases = (
        Case("1", n=1),
        Case("1003", n=1003),
        Case("100003", n=100_003),
        Case("2^27", n=1 << 27),
        Case("150000007", n=150_000_007),
    )

    def inputs(self, case, rng):
        x = 8 * torch.rand((case.n,), generator=rng, device=self.device) - 4
        y = 8 * torch.rand((case.n,), generator=rng, device=self.device) - 4
        return {"x": x, "y": y, "a": -1.75, "lo": -1.5, "hi": 2.25}

    def reference(self, case, x, y, a, lo, hi):
        out = torch.empty_like(x)
        for first in range(0, case.n, 1 << 25):  # bounds the memory of the float64 copies
            part = slice(first, first + (1 << 25))
            out[part] = (a * x[part].double() + y[part]).clamp(lo, hi).float()
        return out

    def flops(self, case):
        return 4 * case.n
