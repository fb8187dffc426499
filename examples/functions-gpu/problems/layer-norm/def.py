"""Layer normalisation of each row in single precision; some rows lie far from zero, where one-pass variances fail."""

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class LayerNorm(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ("rows", "cols")),
        Array("gamma", "float32", "in", ("cols",), role="weight"),
        Array("beta", "float32", "in", ("cols",), role="weight"),
        Array("y", "float32", "out", ("rows", "cols")),
        Scalar("epsilon", "float32"),
        Scalar("rows", "size_t"),
        Scalar("cols", "size_t"),
    )
    accuracy = Tolerance(
        rtol=1e-5,
        atol=1e-3,
        reason=(
            "With u = 6e-8, a mean near 64 from 32 partial sums of at most 128 terms is within 133 * 64 u = 5.1e-4 in the worst "
            "case; dividing by a deviation of about 1 and multiplying by a gamma of at most 1.5 makes it 8e-4. Observed "
            "errors are a tenth of that."
        ),
    )
    cases = (
        Case("1 x 33", rows=1, cols=33),
        Case("7 x 257", rows=7, cols=257),
        Case("301 x 1000", rows=301, cols=1000),
        Case("65536 x 2048", rows=65_536, cols=2048),
        Case("32771 x 4096", rows=32_771, cols=4096),
    )

    def inputs(self, case, rng):
        x = torch.randn((case.rows, case.cols), generator=rng, device=self.device)
        x[1::4] += 64
        x[2::4] *= 3
        x[3::8, ::2] -= 32
        x[4::8] *= 0.003  # a variance of the size of epsilon
        gamma = 0.5 + torch.rand((case.cols,), generator=rng, device=self.device)
        beta = torch.randn((case.cols,), generator=rng, device=self.device)
        return {"x": x, "gamma": gamma, "beta": beta, "epsilon": 1e-5}

    def reference(self, case, x, gamma, beta, epsilon):
        y = torch.empty_like(x)
        for first in range(0, case.rows, 8192):  # bounds the memory of the float64 copies
            part = x[first : first + 8192].double()
            part = part - part.mean(dim=1, keepdim=True)
            scale = torch.rsqrt(part.square().mean(dim=1, keepdim=True) + epsilon)
            y[first : first + 8192] = (part * scale * gamma + beta).float()
        return y

    def flops(self, case):
        return 8 * case.rows * case.cols
