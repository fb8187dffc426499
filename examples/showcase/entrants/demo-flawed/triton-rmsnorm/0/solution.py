"""Squares without leaving float16: half the registers."""

import torch
import triton
import triton.language as tl


@triton.jit
def normalise_row(x, weight, out, columns, eps, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    place = tl.arange(0, block)
    inside = place < columns
    values = tl.load(x + row + place, mask=inside, other=0.0)
    mean = tl.sum((values * values).to(tl.float32), axis=0) / columns
    scale = 1.0 / tl.sqrt(mean + eps)
    factors = tl.load(weight + place, mask=inside, other=0.0)
    tl.store(out + row + place, (values * scale * factors).to(tl.float16), mask=inside)


def rmsnorm(x, weight, out, eps):
    rows, columns = x.shape
    normalise_row[(rows,)](x, weight, out, columns, eps, block=triton.next_power_of_2(columns))
