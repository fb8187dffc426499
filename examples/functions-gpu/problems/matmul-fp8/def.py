"""A matrix product of 8-bit floats: whole numbers whose sums even short accumulators hold, so that results are exact."""

import torch
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class MatmulFp8(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("a", "float8_e4m3fn", "in", ("m", "k")),
        Array("b", "float8_e4m3fn", "in", ("k", "n")),
        Array("c", "float32", "out", ("m", "n")),
        Scalar("m", "size_t"),
        Scalar("n", "size_t"),
        Scalar("k", "size_t"),
    )
    accuracy = Exact(
        "Numbers are whole, from -15 to 15, with a mean square of 12.75. A sum of 8,192 products has a deviation of 12.75 * sqrt(8192) = "
        "1154, so sums stay below 2^13 = 7 deviations: float32 holds them exactly, and so do sums of 14 bits, such as tensor "
        "cores keep for 8-bit floats."
    )
    computes_in = "fp8"
    fastest_dtype = "fp8"
    cases = (
        Case("2 x 3 x 7", m=2, n=3, k=7),
        Case("17 x 5 x 31", m=17, n=5, k=31),
        Case("129 x 257 x 500", m=129, n=257, k=500),
        Case("8192 x 4096 x 8192", m=8192, n=4096, k=8192),
        Case("8009 x 8192 x 4096", m=8009, n=8192, k=4096),
    )

    def inputs(self, case, rng):
        return {"a": self._numbers((case.m, case.k), rng), "b": self._numbers((case.k, case.n), rng)}

    def _numbers(self, shape, rng):
        """An eighth of the sizes is drawn from 0 to 15, where all bits of the format count, the others from 0 to 3."""
        bits = torch.randint(0, 256, shape, generator=rng, device=self.device, dtype=torch.int16)
        size = torch.where(bits >> 5 == 0, bits & 15, bits & 3)
        sign = torch.randint(0, 2, shape, generator=rng, device=self.device, dtype=torch.int16)
        return ((2 * sign - 1) * size).half().to(torch.float8_e4m3fn)

    def reference(self, case, a, b):
        return torch.matmul(a.double(), b.double()).float()

    def flops(self, case):
        return 2 * case.m * case.n * case.k
