"""One program for each row, which it holds in registers."""

import triton
import triton.language as tl


@triton.jit
def normalise(x, gamma, beta, y, epsilon, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    col = tl.arange(0, BLOCK)
    inside = col < cols
    value = tl.load(x + row + col, mask=inside, other=0.0)
    mean = tl.sum(value, axis=0) / cols
    offset = tl.where(inside, value - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(offset * offset, axis=0) / cols + epsilon)
    result = offset * scale * tl.load(gamma + col, mask=inside) + tl.load(beta + col, mask=inside)
    tl.store(y + row + col, result, mask=inside)


def solution(x, gamma, beta, y, epsilon, rows, cols):
    normalise[(rows,)](x, gamma, beta, y, epsilon, cols, BLOCK=triton.next_power_of_2(cols), num_warps=8)
