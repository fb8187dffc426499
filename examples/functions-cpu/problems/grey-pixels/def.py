"""Colour pixels to grey ones, in integers with one rounding, so there is one right answer."""

import numpy as np
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class GreyPixels(FunctionProblem):
    parameters = (
        Array("pixels", "uint8", "in", ("height", "width", 3)),
        Array("grey", "uint8", "out", ("height", "width")),
        Scalar("height", "size_t"),
        Scalar("width", "size_t"),
    )
    accuracy = Exact("integers with one rounding")
    cases = (
        Case("2 x 1", height=2, width=1),
        Case("3 x 17", height=3, width=17),
        Case("101 x 67", height=101, width=67),
        Case("256 x 384", height=256, width=384),
        Case("301 x 509", height=301, width=509),
    )

    def inputs(self, case, rng):
        pixels = rng.integers(0, 256, (case.height, case.width, 3), dtype=np.uint8)
        kind = rng.integers(0, 4, (case.height, case.width))
        pixels[kind == 0] |= 0xF0  # bright: sums near the largest
        pixels[kind == 1] &= 0x0F  # dark
        return {"pixels": pixels}

    def reference(self, case, pixels):
        red, green, blue = (pixels[:, :, channel].astype(np.uint16) for channel in range(3))
        return ((77 * red + 150 * green + 29 * blue + 128) >> 8).astype(np.uint8)
