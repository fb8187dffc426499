"""Transposes each matrix of a batch: nothing is computed, so all that counts is the order of reads and writes."""

import torch
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class BatchedTranspose(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float16", "in", ("batch", "rows", "cols")),
        Array("y", "float16", "out", ("batch", "cols", "rows")),
        Scalar("batch", "size_t"),
        Scalar("rows", "size_t"),
        Scalar("cols", "size_t"),
    )
    accuracy = Exact("numbers are copied")
    computes_in = "fp16"
    cases = (
        Case("1 of 2 x 3", batch=1, rows=2, cols=3),
        Case("3 of 37 x 65", batch=3, rows=37, cols=65),
        Case("5 of 301 x 127", batch=5, rows=301, cols=127),
        Case("64 of 2048 x 2048", batch=64, rows=2048, cols=2048),
        Case("67 of 1999 x 2003", batch=67, rows=1999, cols=2003),
    )

    def inputs(self, case, rng):
        x = torch.randn((case.batch, case.rows, case.cols), generator=rng, device=self.device)
        x[:, 1::5] *= 1e-6  # below the normal numbers of float16
        return {"x": x.half()}

    def reference(self, case, x):
        return x.transpose(1, 2).contiguous()
