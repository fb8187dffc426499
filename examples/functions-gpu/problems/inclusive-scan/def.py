"""Running sums of one long vector of 64-bit integers: exact, with sums beyond what a float64 holds."""

import torch
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class InclusiveScan(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("values", "int64", "in", ("n",)),
        Array("sums", "int64", "out", ("n",)),
        Scalar("n", "size_t"),
    )
    accuracy = Exact(
        "values are at most 2^47 in size with random signs: 150,000,007 of them have a deviation of 2^47 * 0.58 * 12248 = 2^59.8, "
        "so a sum passes 2^63 less than once in 10^17 calls"
    )
    cases = (
        Case("1", n=1),
        Case("1003", n=1003),
        Case("300007", n=300_007),
        Case("2^27", n=1 << 27),
        Case("150000007", n=150_000_007),
    )

    def inputs(self, case, rng):
        values = torch.randint(-(1 << 47), (1 << 47) + 1, (case.n,), generator=rng, device=self.device)
        return {"values": values}

    def reference(self, case, values):
        return torch.cumsum(values, dim=0)

    def flops(self, case):
        return case.n
