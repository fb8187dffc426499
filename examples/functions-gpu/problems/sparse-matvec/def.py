"""A sparse matrix in CSR form times a vector; a sixteenth of the rows holds half of the entries, and some rows are empty."""

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class SparseMatvec(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("row_starts", "int64", "in", ("edges",), role="structure"),
        Array("columns", "int32", "in", ("entries",), role="structure"),
        Array("values", "float32", "in", ("entries",)),
        Array("x", "float32", "in", ("cols",)),
        Array("y", "float32", "out", ("rows",)),
        Scalar("rows", "size_t"),
        Scalar("cols", "size_t"),
        Scalar("entries", "size_t"),
    )
    accuracy = Tolerance(
        rtol=1e-5,
        atol=7e-4,
        reason=(
            "Products are at most 1 and a quarter on average in size; hardly any row has more than 1,100. With u = 6e-8, a sum from "
            "32 partial sums is within (1100 / 32 + 6) * 1100 / 4 * u = 6.6e-4 in the worst case and a hundredth of that as a rule, "
            "since signs are random; a running sum is within 1e-4 as a rule."
        ),
    )
    cases = (
        Case("2 x 3 with 5", rows=2, cols=3, entries=5, edges=3),
        Case("61 x 37 with 1009", rows=61, cols=37, entries=1009, edges=62),
        Case("4099 x 5003 with 120011", rows=4099, cols=5003, entries=120_011, edges=4100),
        Case("2^22 x 2^20 with 2^27", rows=1 << 22, cols=1 << 20, entries=1 << 27, edges=(1 << 22) + 1),
        Case("3000017 x 700001 with 140000003", rows=3_000_017, cols=700_001, entries=140_000_003, edges=3_000_018),
    )

    def inputs(self, case, rng):
        values = 2 * torch.rand((case.entries,), generator=rng, device=self.device) - 1
        x = 2 * torch.rand((case.cols,), generator=rng, device=self.device) - 1
        columns = torch.randint(0, case.cols, (case.entries,), generator=rng, device=self.device, dtype=torch.int32)
        return {"row_starts": self._row_starts(case, rng), "columns": columns, "values": values, "x": x}

    def _row_starts(self, case, rng):
        """Shape (rows + 1,). The first sixteenth of the rows has eight times the average, the others have half of it."""
        shift = 2 * torch.rand((case.rows - 1,), generator=rng, device=self.device, dtype=torch.float64) - 1
        place = (torch.arange(1, case.rows, device=self.device) + shift) / case.rows
        place = torch.where(place < 1 / 16, 8 * place, 0.5 + (place - 1 / 16) * (8 / 15))
        inner = (place * case.entries).long().clamp(0, case.entries).sort().values
        inner[2::50] = inner[1::50][: inner[2::50].numel()]  # empty rows
        ends = torch.tensor([0, case.entries], device=self.device)
        return torch.cat([ends[:1], inner, ends[1:]])

    def reference(self, case, row_starts, columns, values, x):
        totals = torch.zeros((case.entries + 1,), dtype=torch.float64, device=x.device)
        torch.cumsum(values.double() * x.double()[columns], dim=0, out=totals[1:])
        return (totals[row_starts[1:]] - totals[row_starts[:-1]]).float()

    def flops(self, case):
        return 2 * case.entries
