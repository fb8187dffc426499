"""Sums of consecutive segments of a long array; lengths differ and some segments are empty."""

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class SegmentedSum(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("values", "float32", "in", ("n",)),
        Array("starts", "int64", "in", ("edges",), role="structure"),
        Array("sums", "float32", "out", ("segments",)),
        Scalar("n", "size_t"),
        Scalar("segments", "size_t"),
    )
    accuracy = Tolerance(
        rtol=1e-5,
        atol=1.2e-3,
        reason=(
            "Values are at most 1 and hardly any segment has more than 1,040. With u = 6e-8, a sum from 32 partial sums is within "
            "(1040 / 32 + 5) * 1040 u / 2 = 1.2e-3 in the worst case and a hundredth of that as a rule, since signs are "
            "random; a running sum is within 1e-4 as a rule."
        ),
    )
    cases = (
        Case("5 in 2 segments", n=5, edges=3, segments=2),
        Case("1009 in 31 segments", n=1009, edges=32, segments=31),
        Case("100003 in 701 segments", n=100_003, edges=702, segments=701),
        Case("2^28 in 2^20 segments", n=1 << 28, edges=(1 << 20) + 1, segments=1 << 20),
        Case("300000007 in 1700003 segments", n=300_000_007, edges=1_700_004, segments=1_700_003),
    )

    def inputs(self, case, rng):
        values = 2 * torch.rand((case.n,), generator=rng, device=self.device) - 1
        inner = torch.arange(1, case.segments, device=self.device) + 2 * torch.rand(
            (case.segments - 1,), generator=rng, device=self.device, dtype=torch.float64
        )
        inner = (inner - 1) * (case.n / case.segments)
        inner = inner.long().clamp(0, case.n).sort().values
        inner[2::50] = inner[1::50][: inner[2::50].numel()]  # empty segments
        ends = torch.tensor([0, case.n], device=self.device)
        return {"values": values, "starts": torch.cat([ends[:1], inner, ends[1:]])}

    def reference(self, case, values, starts):
        totals = torch.nn.functional.pad(torch.cumsum(values, dim=0, dtype=torch.float64), (1, 0))
        return (totals[starts[1:]] - totals[starts[:-1]]).float()

    def flops(self, case):
        return case.n
