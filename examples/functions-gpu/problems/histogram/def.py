"""Counts of numbers in 4,096 equal bins; a few bins get a third of all numbers, and numbers outside of the bins are left out."""

import torch
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar

BINS = 4096


class Histogram(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("values", "float32", "in", ("n",)),
        Array("counts", "int64", "out", (BINS,)),
        Scalar("n", "size_t"),
    )
    accuracy = Exact("a float32 times 4096 is exact, so each number has one bin, and counts are whole")
    cases = (
        Case("5", n=5),
        Case("4099", n=4099),
        Case("1000003", n=1_000_003),
        Case("2^28", n=1 << 28),
        Case("300000007", n=300_000_007),
    )

    def inputs(self, case, rng):
        values = torch.rand((case.n,), generator=rng, device=self.device)
        values *= 1.25
        values -= 0.125  # a fifth lies outside of the bins
        crowded = torch.rand((case.n // 3 + 1,), generator=rng, device=self.device)
        crowded *= 3 / BINS  # a third of the numbers lies in three or four bins, others in each call
        crowded += 0.9 * torch.rand((1,), generator=rng, device=self.device)
        values[::3] = crowded[: values[::3].numel()]
        values[1::64] = (values[1::64] * BINS).round() / BINS  # on the edges of bins
        return {"values": values}

    def reference(self, case, values):
        edges = torch.arange(BINS + 1, device=values.device) / BINS
        below = torch.zeros((BINS + 1,), dtype=torch.int64, device=values.device)
        for first in range(0, case.n, 1 << 26):  # bounds the memory of the sorted copies
            below += torch.searchsorted(values[first : first + (1 << 26)].sort().values, edges)
        return below[1:] - below[:-1]

    def flops(self, case):
        return 2 * case.n
