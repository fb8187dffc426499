"""A matrix product of 8-bit integers with 32-bit sums: exact, with sums beyond what a float32 holds."""

import torch
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class Int8Matmul(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("a", "int8", "in", ("m", "k")),
        Array("b", "int8", "in", ("k", "n")),
        Array("c", "int32", "out", ("m", "n")),
        Scalar("m", "size_t"),
        Scalar("n", "size_t"),
        Scalar("k", "size_t"),
    )
    accuracy = Exact("sums of at most 8,192 products of 8-bit integers fit in 32 bits")
    computes_in = "int8"
    fastest_dtype = "int8"
    cases = (
        Case("1 x 1 x 1", m=1, n=1, k=1),
        Case("17 x 5 x 31", m=17, n=5, k=31),
        Case("129 x 257 x 500", m=129, n=257, k=500),
        Case("4096 x 4096 x 8192", m=4096, n=4096, k=8192),
        Case("5003 x 4608 x 4096", m=5003, n=4608, k=4096),
    )

    def inputs(self, case, rng):
        a = torch.randint(-128, 128, (case.m, case.k), generator=rng, device=self.device, dtype=torch.int8)
        b = torch.randint(-128, 128, (case.k, case.n), generator=rng, device=self.device, dtype=torch.int8)
        a[::8] = (a[::8] | 0x60) & 0x7F  # some rows and columns of large positive numbers: their sums pass 2^24
        b[:, ::8] = (b[:, ::8] | 0x60) & 0x7F
        return {"a": a, "b": b}

    def reference(self, case, a, b):
        # Integer matrix products are missing on some devices; sums below 2^53 are exact in float64.
        return torch.matmul(a.double(), b.double()).to(torch.int32)

    def flops(self, case):
        return 2 * case.m * case.n * case.k
