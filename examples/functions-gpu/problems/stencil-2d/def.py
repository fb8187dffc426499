"""One step of diffusion on a grid with the nine-point stencil; the border keeps its values."""

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class Stencil2d(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ("rows", "cols")),
        Array("y", "float32", "out", ("rows", "cols")),
        Scalar("rate", "float32"),
        Scalar("rows", "size_t"),
        Scalar("cols", "size_t"),
    )
    accuracy = Tolerance(
        rtol=0,
        atol=2e-6,
        reason=(
            "Numbers are at most 1 and the weights add up to 1 + 0.25 * 40 / 6 = 2.7 in size. A term passes through at most 11 "
            "roundings of 6e-8, in any order: 11 * 2.7 * 6e-8 = 1.8e-6."
        ),
    )
    cases = (
        Case("3 x 4", rows=3, cols=4),
        Case("37 x 131", rows=37, cols=131),
        Case("509 x 383", rows=509, cols=383),
        Case("12288 x 12288", rows=12_288, cols=12_288),
        Case("11003 x 13001", rows=11_003, cols=13_001),
    )

    def inputs(self, case, rng):
        x = 2 * torch.rand((case.rows, case.cols), generator=rng, device=self.device) - 1
        return {"x": x, "rate": 0.25}

    def reference(self, case, x, rate):
        y = x.clone()
        for first in range(1, case.rows - 1, 2048):  # bounds the memory of the float64 copies
            last = min(first + 2048, case.rows - 1)
            part = x[first - 1 : last + 1].double()
            sides = part[:-2, 1:-1] + part[2:, 1:-1] + part[1:-1, :-2] + part[1:-1, 2:]
            corners = part[:-2, :-2] + part[:-2, 2:] + part[2:, :-2] + part[2:, 2:]
            centre = part[1:-1, 1:-1]
            y[first:last, 1:-1] = (centre + rate * (4 * sides + corners - 20 * centre) / 6).float()
        return y

    def flops(self, case):
        return 13 * (case.rows - 2) * (case.cols - 2)
