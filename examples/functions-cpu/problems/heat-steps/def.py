"""Some explicit steps of the heat equation on a grid, in place; the border keeps its values."""

import numpy as np
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class HeatSteps(FunctionProblem):
    parameters = (
        Array("grid", "float32", "inout", ("rows", "cols")),
        Scalar("rate", "float32"),
        Scalar("steps", "size_t"),
        Scalar("rows", "size_t"),
        Scalar("cols", "size_t"),
    )
    accuracy = Tolerance(
        rtol=0,
        atol=5e-5,
        reason=(
            "Values stay within 4. With u = 6e-8, one point of one step in float32 rounds sums of up to 32 and a product "
            "of up to 8: less than 10 u * 8 in all, for a rate of at most 0.16. The weights of a step add up to 1, so "
            "errors add over at most 6 steps: 3e-5."
        ),
    )
    cases = (
        Case("3 x 3, 1 step", rows=3, cols=3, steps=1),
        Case("5 x 17, 2 steps", rows=5, cols=17, steps=2),
        Case("101 x 67, 5 steps", rows=101, cols=67, steps=5),
        Case("512 x 512, 6 steps", rows=512, cols=512, steps=6),
        Case("401 x 1021, 4 steps", rows=401, cols=1021, steps=4),
    )

    def inputs(self, case, rng):
        grid = rng.random((case.rows, case.cols), dtype=np.float32)
        grid += np.linspace(-1, 1, case.cols, dtype=np.float32) * np.float32(rng.uniform(-1, 1))
        grid += np.linspace(-1, 1, case.rows, dtype=np.float32)[:, None] * np.float32(rng.uniform(-1, 1))
        grid[rng.integers(0, case.rows), :: rng.integers(1, 5)] -= 2
        return {"grid": grid, "rate": (16 + case.rows % 5) / 128}

    def reference(self, case, grid, rate):
        now = grid.astype(np.float64)
        for _ in range(case.steps):
            inner = now[1:-1, 1:-1]
            change = now[:-2, 1:-1] + now[2:, 1:-1]
            change += now[1:-1, :-2]
            change += now[1:-1, 2:]
            change -= 4 * inner
            change *= rate
            inner += change
        return now.astype(np.float32)

    def flops(self, case):
        return 7 * case.steps * (case.rows - 2) * (case.cols - 2)
