"""Causal attention with heads of 64 numbers: float16 in and out, float32 in between."""

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class Attention(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("q", "float16", "in", ("heads", "n", 64)),
        Array("k", "float16", "in", ("heads", "n", 64)),
        Array("v", "float16", "in", ("heads", "n", 64)),
        Array("y", "float16", "out", ("heads", "n", 64)),
        Scalar("scale", "float32"),
        Scalar("heads", "size_t"),
        Scalar("n", "size_t"),
    )
    accuracy = Tolerance(
        rtol=5e-4,
        atol=1.1e-3,
        reason=(
            "Values are at most 1. Rounding the weights to float16 moves a result by at most 2^-11 = 4.9e-4, and by 2^-25 for each "
            "weight near the smallest numbers of the format: 5003 * 3e-8 = 1.5e-4. A score of 64 products, whose sum is "
            "900 at most in size before it is divided by 8, is within 64 * 900 / 8 * 6e-8 = 4.3e-4 in the worst case, and so is the "
            "result. rtol is half a step of float16, 2^-11, for rounding the result."
        ),
    )
    computes_in = "fp16"
    fastest_dtype = "fp16"
    cases = (
        Case("1 head of 3", heads=1, n=3),
        Case("2 heads of 67", heads=2, n=67),
        Case("3 heads of 301", heads=3, n=301),
        Case("64 heads of 4096", heads=64, n=4096),
        Case("50 heads of 5003", heads=50, n=5003),
    )

    def inputs(self, case, rng):
        shape = (case.heads, case.n, 64)
        q = torch.randn(shape, generator=rng, device=self.device)
        k = torch.randn(shape, generator=rng, device=self.device)
        v = 2 * torch.rand(shape, generator=rng, device=self.device) - 1
        q[:, 1::4] *= 4  # few keys have nearly all of the weight
        q[:, 3::8, 0] = 28  # exp overflows unless the maximum is taken off
        k[:, :, 0] = 28
        return {"q": q.half(), "k": k.half(), "v": v.half(), "scale": 0.125}

    def reference(self, case, q, k, v, scale):
        y = torch.empty_like(v)
        future = torch.ones((case.n, case.n), dtype=torch.bool, device=q.device).triu(1)
        for head in range(case.heads):  # bounds the memory of the float64 copies
            scores = torch.matmul(q[head].double(), k[head].double().T) * scale
            weights = torch.softmax(scores.masked_fill_(future, float("-inf")), dim=1)
            y[head] = torch.matmul(weights, v[head].double()).half()
        return y

    def flops(self, case):
        return 4 * 64 * case.heads * case.n * (case.n + 1) / 2
