"""Adds rows of updates to rows of a table, in place; some rows get many updates, most get few."""

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class ScatterAdd(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("table", "float32", "inout", ("rows", "width")),
        Array("index", "int64", "in", ("n",), role="structure"),
        Array("updates", "float32", "in", ("n", "width")),
        Scalar("rows", "size_t"),
        Scalar("n", "size_t"),
        Scalar("width", "size_t"),
    )
    accuracy = Tolerance(
        rtol=1e-5,
        atol=2e-3,
        reason=(
            "Numbers are at most 1 and hardly any row gets more than 180 updates. With u = 6e-8, their sum in any order is "
            "within 180 * 180 u = 2e-3 in the worst case and a hundredth of that as a rule, since signs are random."
        ),
    )
    cases = (
        Case("1 row, 3 updates of 1", rows=1, n=3, width=1),
        Case("13 rows, 101 updates of 7", rows=13, n=101, width=7),
        Case("1000 rows, 4099 updates of 33", rows=1000, n=4099, width=33),
        Case("262144 rows, 1048576 updates of 128", rows=262_144, n=1_048_576, width=128),
        Case("500009 rows, 1500007 updates of 96", rows=500_009, n=1_500_007, width=96),
    )

    def inputs(self, case, rng):
        table = 2 * torch.rand((case.rows, case.width), generator=rng, device=self.device) - 1
        updates = 2 * torch.rand((case.n, case.width), generator=rng, device=self.device) - 1
        index = torch.randint(0, case.rows, (case.n,), generator=rng, device=self.device)
        crowded = min(case.rows, case.n // 2048 + 1)  # rows that share a 32nd of the updates, about 64 each
        index[::32] = index[::32] % crowded
        return {"table": table, "index": index, "updates": updates}

    def reference(self, case, table, index, updates):
        total = table.double()
        for first in range(0, case.n, 1 << 18):  # bounds the memory of the float64 copies
            last = first + (1 << 18)
            total.index_add_(0, index[first:last], updates[first:last].double())
        return total.float()

    def flops(self, case):
        return case.n * case.width

    def bytes(self, case):
        return 4 * case.width * (case.n + 2 * case.rows) + 8 * case.n
