"""A matrix product in single precision with odd sizes; one pass over numbers rounded to TF32 is not accurate enough."""

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class MatmulFp32(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("a", "float32", "in", ("m", "k")),
        Array("b", "float32", "in", ("k", "n")),
        Array("c", "float32", "out", ("m", "n")),
        Scalar("m", "size_t"),
        Scalar("n", "size_t"),
        Scalar("k", "size_t"),
    )
    accuracy = Tolerance(
        rtol=1e-6,
        atol=2e-3,
        reason=(
            "Numbers lie between -1 and 1, so a sum of k = 4096 products has a deviation of sqrt(k) / 3 = 21, and hardly any sum "
            "on the way passes 85. With u = 6e-8, each of k additions is within 85 u; errors of random sign add up to at most "
            "6 sqrt(k) 85 u = 2e-3. Sums in order are within 3e-4 as a rule. Rounding to TF32 puts a deviation of 9e-5 on each "
            "product, which makes 5.6e-3 for k = 4096."
        ),
    )
    fastest_dtype = "tf32"  # three TF32 products that make up for the rounding are allowed
    cases = (
        Case("1 x 1 x 1", m=1, n=1, k=1),
        Case("17 x 5 x 31", m=17, n=5, k=31),
        Case("129 x 257 x 1001", m=129, n=257, k=1001),
        Case("4096 x 4096 x 4096", m=4096, n=4096, k=4096),
        Case("4099 x 4003 x 3001", m=4099, n=4003, k=3001),
    )

    def inputs(self, case, rng):
        a = 2 * torch.rand((case.m, case.k), generator=rng, device=self.device) - 1
        b = 2 * torch.rand((case.k, case.n), generator=rng, device=self.device) - 1
        return {"a": a, "b": b}

    def reference(self, case, a, b):
        return torch.matmul(a.double(), b.double()).float()

    def flops(self, case):
        return 2 * case.m * case.n * case.k
