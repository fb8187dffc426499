"""Quantises groups of 128 numbers to float8 e4m3 with a power of two as each group's scale, so that results are exact."""

import torch
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class Fp8Quantise(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ("rows", "groups", 128)),
        Array("q", "float8_e4m3fn", "out", ("rows", "groups", 128)),
        Array("scales", "float32", "out", ("rows", "groups")),
        Scalar("rows", "size_t"),
        Scalar("groups", "size_t"),
    )
    accuracy = Exact("division by a power of two is exact, and rounding to nearest even has one result")
    cases = (
        Case("1 x 1 groups", rows=1, groups=1),
        Case("13 x 3 groups", rows=13, groups=3),
        Case("257 x 17 groups", rows=257, groups=17),
        Case("24576 x 64 groups", rows=24_576, groups=64),
        Case("16381 x 101 groups", rows=16_381, groups=101),
    )

    def inputs(self, case, rng):
        x = torch.randn((case.rows, case.groups, 128), generator=rng, device=self.device)
        x[1::7, :, 3] *= 5000  # the rest of such a group comes near the smallest numbers of the format
        sixteenths = torch.randint(0, 8, x[3::5].shape, generator=rng, device=self.device)
        x[3::5] = 1 + (2 * sixteenths + 1) / 16  # ties
        x[::4, :, 5] = 7  # 448 times a power of two
        x[2::11, 0] = 0
        powers = torch.randint(-20, 21, (case.rows, case.groups, 1), generator=rng, device=self.device)
        return {"x": x * ((powers + 127) << 23).to(torch.int32).view(torch.float32)}  # 2 to the power, exactly

    def reference(self, case, x):
        bits = x.abs().amax(dim=2).view(torch.int32)
        exponent, fraction = bits >> 23, bits & 0x7FFFFF
        # 448 is 1.75 * 2^8: a fraction above .75 needs the next power of two.
        power = exponent - 8 + (fraction > 0x600000).int()
        scales = torch.where(bits == 0, torch.ones_like(power) * 127, power) << 23
        scales = scales.to(torch.int32).view(torch.float32)
        return (x / scales[:, :, None]).to(torch.float8_e4m3fn), scales

    def flops(self, case):
        return 3 * case.rows * case.groups * 128
