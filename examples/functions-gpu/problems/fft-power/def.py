"""The power spectrum of each row of real numbers in single precision; lengths are powers of two."""

import math

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class FftPower(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ("batch", "n")),
        Array("power", "float32", "out", ("batch", "bins")),
        Scalar("batch", "size_t"),
        Scalar("n", "size_t"),
    )
    accuracy = Tolerance(
        rtol=1e-4,
        atol=1e-6,
        reason=(
            "With u = 6e-8, the 12 stages of a float32 transform of 4,096 numbers add errors of at most 12 * 4 u = 2.9e-6 of the "
            "spectrum's root mean square, which is 0.58 after the division: 1.7e-6, and hardly ever more than six times that, d = "
            "1e-5, in one bin. The power P is off by 2 d sqrt(P) + d^2, which is at most 1e-4 P + d^2 / 1e-4 = 1e-4 P + 1e-6."
        ),
    )
    cases = (
        Case("3 of 2", batch=3, n=2, bins=2),
        Case("13 of 64", batch=13, n=64, bins=33),
        Case("101 of 4096", batch=101, n=4096, bins=2049),
        Case("49152 of 4096", batch=49_152, n=4096, bins=2049),
        Case("200003 of 1024", batch=200_003, n=1024, bins=513),
    )

    def inputs(self, case, rng):
        return {"x": 2 * torch.rand((case.batch, case.n), generator=rng, device=self.device) - 1}

    def reference(self, case, x):
        power = x.new_empty((case.batch, case.bins))
        for first in range(0, case.batch, 8192):  # bounds the memory of the float64 copies
            spectrum = torch.view_as_real(torch.fft.rfft(x[first : first + 8192].double(), dim=1))
            power[first : first + 8192] = (spectrum.square().sum(dim=2) / case.n).float()
        return power

    def flops(self, case):
        return case.batch * (2.5 * case.n * math.log2(case.n) + 4 * case.bins)
