"""Softmax of square score matrices under a causal mask, as attention uses it."""

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class CausalSoftmax(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("scores", "float32", "in", ("heads", "n", "n")),
        Array("weights", "float32", "out", ("heads", "n", "n")),
        Scalar("scale", "float32"),
        Scalar("heads", "size_t"),
        Scalar("n", "size_t"),
    )
    accuracy = Tolerance(
        rtol=1e-4,
        atol=1e-12,
        reason=(
            "With u = 6e-8, a sum of positive terms from 32 partial sums of at most 128 terms is within 133 u = 8e-6; the exponent "
            "is at most 300 in size before the maximum is taken off and within 3 * 300 u = 5.4e-5; exp and the "
            "division add 8 u. atol covers results near the smallest float32 numbers."
        ),
    )
    cases = (
        Case("1 of 3 x 3", heads=1, n=3),
        Case("2 of 67 x 67", heads=2, n=67),
        Case("5 of 509 x 509", heads=5, n=509),
        Case("40 of 2048 x 2048", heads=40, n=2048),
        Case("11 of 4093 x 4093", heads=11, n=4093),
    )

    def inputs(self, case, rng):
        scores = torch.randn((case.heads, case.n, case.n), generator=rng, device=self.device)
        scores[:, ::3] *= 8
        scores[:, 1::5] += 192  # exp overflows unless the maximum is taken off
        scores[:, :, 0] += 4
        return {"scores": scores, "scale": 0.75}

    def reference(self, case, scores, scale):
        weights = torch.empty_like(scores)
        future = torch.ones((case.n, case.n), dtype=torch.bool, device=scores.device).triu(1)
        for head in range(case.heads):  # bounds the memory of the float64 copies
            z = (scores[head].double() * scale).masked_fill(future, float("-inf"))
            weights[head] = torch.softmax(z, dim=1).float()
        return weights

    def flops(self, case):
        return 5 * case.heads * case.n * (case.n + 1) / 2

    def bytes(self, case):
        return 4 * case.heads * (case.n * (case.n + 1) / 2 + case.n * case.n)  # masked scores need not be read
