"""The place of the largest number of each row; most rows have it several times, and the first counts."""

import torch
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class RowArgmax(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ("rows", "cols")),
        Array("place", "int64", "out", ("rows",)),
        Scalar("rows", "size_t"),
        Scalar("cols", "size_t"),
    )
    accuracy = Exact("comparisons do not round, and the lowest of equal places is one number")
    cases = (
        Case("5 x 7", rows=5, cols=7),
        Case("31 x 257", rows=31, cols=257),
        Case("1009 x 1000", rows=1009, cols=1000),
        Case("65536 x 4096", rows=65_536, cols=4096),
        Case("20011 x 16001", rows=20_011, cols=16_001),
    )

    def inputs(self, case, rng):
        x = torch.randn((case.rows, case.cols), generator=rng, device=self.device)
        x[::4] = (x[::4] * 4).round() / 4  # few values: the largest occurs several times
        x[1::8] = (x[1::8].clamp(max=0) * 4).round() / 4  # the largest is 0, and half of the zeros are -0
        x[2::8] -= 64  # all are negative
        x[3::8] = (x[3::8] * 2.0**-5).bfloat16().float() + 1  # close together near 1
        last = torch.rand((case.rows,), generator=rng, device=self.device) < 0.25
        x[:, -1] = torch.where(last, 16.0, x[:, -1])  # the largest is in the last column
        return {"x": x}

    def reference(self, case, x):
        place = torch.empty((case.rows,), dtype=torch.int64, device=x.device)
        col = torch.arange(case.cols, device=x.device)
        for first in range(0, case.rows, 4096):  # bounds the memory of the places
            part = x[first : first + 4096]
            is_largest = part == part.amax(dim=1, keepdim=True)
            place[first : first + 4096] = torch.where(is_largest, col, case.cols).amin(dim=1)
        return place

    def flops(self, case):
        return case.rows * case.cols
