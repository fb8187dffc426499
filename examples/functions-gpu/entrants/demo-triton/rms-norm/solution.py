"""One program for each row, which it holds in registers."""

import triton
import triton.language as tl


@triton.jit
def normalise(x, weight, y, epsilon, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    col = tl.arange(0, BLOCK)
    inside = col < cols
    value = tl.load(x + row + col, mask=inside, other=0.0).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(value * value, axis=0) / cols + epsilon)
    result = value * scale * tl.load(weight + col, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row + col, result.to(tl.bfloat16), mask=inside)


def solution(x, weight, y, epsilon, rows, cols):
    normalise[(rows,)](x, weight, y, epsilon, cols, BLOCK=triton.next_power_of_2(cols), num_warps=8)
