"""A matrix product of float16 with float32 sums; sums kept in float16 are not accurate enough."""

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class MatmulFp16(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("a", "float16", "in", ("m", "k")),
        Array("b", "float16", "in", ("k", "n")),
        Array("c", "float16", "out", ("m", "n")),
        Scalar("m", "size_t"),
        Scalar("n", "size_t"),
        Scalar("k", "size_t"),
    )
    accuracy = Tolerance(
        rtol=2**-10,
        atol=1e-2,
        reason=(
            "A sum that float32 puts on the other side of a float16 boundary differs by one step, at most 2^-10 of the value. "
            "Numbers lie between -1 and 1, so a sum of k = 8191 products has a deviation of sqrt(k) / 3 = 30, and hardly any sum on "
            "the way averages more than 80. Tensor cores add at least eight products at a time and cut the sum off to 24 bits: "
            "1024 errors of at most 80 * 2^-23 make 1e-2. Sums rounded one product at a time are within 1e-3 as a rule. A sum of 30 "
            "that is kept in float16 is rounded by up to 2^-7 = 8e-3 at each of hundreds of additions."
        ),
    )
    computes_in = "fp16"
    fastest_dtype = "fp16"
    cases = (
        Case("1 x 1 x 1", m=1, n=1, k=1),
        Case("17 x 5 x 31", m=17, n=5, k=31),
        Case("129 x 257 x 1001", m=129, n=257, k=1001),
        Case("8192 x 8192 x 4096", m=8192, n=8192, k=4096),
        Case("5119 x 6144 x 8191", m=5119, n=6144, k=8191),
    )

    def inputs(self, case, rng):
        a = 2 * torch.rand((case.m, case.k), generator=rng, device=self.device) - 1
        b = 2 * torch.rand((case.k, case.n), generator=rng, device=self.device) - 1
        return {"a": a.half(), "b": b.half()}

    def reference(self, case, a, b):
        return torch.matmul(a.double(), b.double()).half()

    def flops(self, case):
        return 2 * case.m * case.n * case.k
