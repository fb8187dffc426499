"""The k largest integers of each row with their places; equal scores go by place, so there is one right answer."""

import numpy as np
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class TopKScores(FunctionProblem):
    parameters = (
        Array("scores", "int32", "in", ("rows", "cols")),
        Array("best", "int32", "out", ("rows", "k")),
        Array("places", "int32", "out", ("rows", "k")),
        Scalar("rows", "size_t"),
        Scalar("cols", "size_t"),
        Scalar("k", "size_t"),
    )
    accuracy = Exact("integers, and ties have one order")
    cases = (
        Case("1 x 3, k 1", rows=1, cols=3, k=1),
        Case("7 x 13, k 13", rows=7, cols=13, k=13),
        Case("53 x 101, k 5", rows=53, cols=101, k=5),
        Case("512 x 512, k 1", rows=512, cols=512, k=1),
        Case("521 x 1021, k 16", rows=521, cols=1021, k=16),
    )

    def inputs(self, case, rng):
        scores = rng.integers(-(1 << 31), 1 << 31, (case.rows, case.cols), dtype=np.int32)
        kind = rng.integers(0, 7, case.rows)
        scores[kind == 1] %= 7
        scores[kind == 2] = scores[kind == 2, :1]  # all equal
        scores[kind == 3] = np.sort(scores[kind == 3], axis=1)
        scores[kind == 4] = np.sort(scores[kind == 4], axis=1)[:, ::-1]
        scores[kind == 5, 2:] = -(1 << 31)  # the smallest number there is
        scores[kind == 6] = (1 << 30) + scores[kind == 6] % 97  # neighbours that a float32 does not tell apart
        return {"scores": scores}

    def reference(self, case, scores):
        # ~s falls as s rises and never overflows, so a stable sort of it puts equal scores in order of place.
        places = np.argsort(~scores, axis=1, kind="stable")[:, : case.k]
        return np.take_along_axis(scores, places, axis=1), places.astype(np.int32)
