"""Sorts 32-bit keys: a mixture of random ones, of repeated ones and of ones that differ in their high digits alone."""

import torch
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class SortKeys(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("keys", "int32", "in", ("n",)),
        Array("in_order", "int32", "out", ("n",)),
        Scalar("n", "size_t"),
    )
    accuracy = Exact("a list of whole numbers has one ascending order")
    cases = (
        Case("1", n=1),
        Case("1000", n=1000),
        Case("70001", n=70_001),
        Case("2^26", n=1 << 26),
        Case("50000017", n=50_000_017),
    )

    def inputs(self, case, rng):
        keys = torch.randint(-(2**31), 2**31, (case.n,), generator=rng, device=self.device, dtype=torch.int64)
        keys[1::4] = keys[1::4] % 1000 - 500  # repeated, of both signs, equal in all high digits
        keys[2::4] = (keys[2::4] >> 16) << 16  # equal in all low digits
        return {"keys": keys.to(torch.int32)}

    def reference(self, case, keys):
        return torch.sort(keys).values
