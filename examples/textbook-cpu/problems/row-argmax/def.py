"""Finds the first largest element of each row: exact, with ties and rows of negative elements."""

import numpy as np
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class RowArgmax(FunctionProblem):
    parameters = (
        Array("x", "float32", "in", ("rows", "cols")),
        Array("index", "int64", "out", ("rows",)),
        Scalar("rows", "size_t"),
        Scalar("cols", "size_t"),
    )
    accuracy = Exact("indices are integers")
    cases = (
        Case("5 rows of 3", rows=5, cols=3),
        Case("37 rows of 5", rows=37, cols=5),
        Case("64 rows of 1000", rows=64, cols=1000),
        Case("1021 rows of 1021", rows=1021, cols=1021),
    )

    def inputs(self, case, rng):
        x = rng.integers(-40, 40, (case.rows, case.cols)).astype(np.float32)
        negative = rng.random(case.rows) < 0.4
        x[negative] = -1 - np.abs(x[negative])
        return {"x": x}

    def reference(self, case, x):
        return np.argmax(x, axis=1).astype(np.int64)
