"""The k largest numbers of each row and their columns; the lowest column wins among equal numbers, so results are exact."""

import torch
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class TopKRows(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("scores", "float32", "in", ("rows", "cols")),
        Array("best", "float32", "out", ("rows", "k")),
        Array("places", "int32", "out", ("rows", "k")),
        Scalar("rows", "size_t"),
        Scalar("cols", "size_t"),
        Scalar("k", "size_t"),
    )
    accuracy = Exact("numbers are copied, and the lowest column wins among equal ones")
    cases = (
        Case("1 x 5, 2 of each", rows=1, cols=5, k=2),
        Case("13 x 131, 7 of each", rows=13, cols=131, k=7),
        Case("301 x 1023, 32 of each", rows=301, cols=1023, k=32),
        Case("65536 x 4096, 8 of each", rows=65_536, cols=4096, k=8),
        Case("27011 x 10007, 32 of each", rows=27_011, cols=10_007, k=32),
    )

    def inputs(self, case, rng):
        scores = torch.randn((case.rows, case.cols), generator=rng, device=self.device)
        scores[1::2] = torch.round(scores[1::2] * 64) / 64  # equal numbers among the largest
        scores[3::8] = torch.round(scores[3::8])  # hundreds of equal numbers
        scores[2::4] -= 16  # all negative
        return {"scores": scores + 0.0}  # no negative zeros

    def reference(self, case, scores):
        best = scores.new_empty((case.rows, case.k))
        places = torch.empty((case.rows, case.k), dtype=torch.int32, device=scores.device)
        column = torch.arange(case.cols, device=scores.device)
        for first in range(0, case.rows, 4096):  # bounds the memory of the keys
            part = scores[first : first + 4096]
            bits = part.contiguous().view(torch.int32)
            in_order = bits ^ ((bits >> 31) & 0x7FFFFFFF)  # whole numbers in the order of the floats
            keys = (in_order.long() << 32) + (0xFFFFFFFF - column)  # all different
            chosen = torch.topk(keys, case.k, dim=1).indices
            best[first : first + 4096] = torch.gather(part, 1, chosen)
            places[first : first + 4096] = chosen.to(torch.int32)
        return best, places

    def flops(self, case):
        return case.rows * case.cols
