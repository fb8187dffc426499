"""A 3 x 3 convolution of each channel by itself, with zeros around the image."""

import torch
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class DepthwiseConv(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ("batch", "channels", "height", "width")),
        Array("weight", "float32", "in", ("channels", 3, 3), role="weight"),
        Array("y", "float32", "out", ("batch", "channels", "height", "width")),
        Scalar("batch", "size_t"),
        Scalar("channels", "size_t"),
        Scalar("height", "size_t"),
        Scalar("width", "size_t"),
    )
    accuracy = Tolerance(
        rtol=0,
        atol=1.1e-5,
        reason="A sum of 9 products of at most 2 in float32, in any order, is within 10 * 18 * 6e-8 = 1.1e-5.",
    )
    cases = (
        Case("1 x 1 x 1 x 1", batch=1, channels=1, height=1, width=1),
        Case("2 x 3 x 5 x 7", batch=2, channels=3, height=5, width=7),
        Case("3 x 17 x 61 x 67", batch=3, channels=17, height=61, width=67),
        Case("32 x 128 x 192 x 192", batch=32, channels=128, height=192, width=192),
        Case("61 x 96 x 151 x 163", batch=61, channels=96, height=151, width=163),
    )

    def inputs(self, case, rng):
        shape = (case.batch, case.channels, case.height, case.width)
        x = 4 * torch.rand(shape, generator=rng, device=self.device) - 2
        weight = 2 * torch.rand((case.channels, 3, 3), generator=rng, device=self.device) - 1
        return {"x": x, "weight": weight}

    def reference(self, case, x, weight):
        y = torch.empty_like(x)
        images = max(1, (1 << 25) // (case.channels * case.height * case.width))
        for first in range(0, case.batch, images):  # bounds the memory of the float64 copies
            some = x[first : first + images]
            padded = torch.nn.functional.pad(some.double(), (1, 1, 1, 1))
            total = torch.zeros_like(some, dtype=torch.float64)
            for row in range(3):
                for col in range(3):
                    window = padded[:, :, row : row + case.height, col : col + case.width]
                    total.addcmul_(window, weight[:, row, col, None, None].double())
            y[first : first + images] = total.float()
        return y

    def flops(self, case):
        return 18 * case.batch * case.channels * case.height * case.width
