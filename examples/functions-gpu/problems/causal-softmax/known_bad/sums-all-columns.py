import torch
import triton
import triton.language as tl


@triton.jit
def softmax_row(scores, weights, scale, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    z = tl.load(scores + row * n + col, mask=col < n, other=float("-inf")) * scale
    powers = tl.exp(z - tl.max(z, axis=0))
    share = powers / tl.sum(powers, axis=0)  # masked columns are in the sum
    tl.store(weights + row * n + col, tl.where(col <= row % n, share, 0.0), mask=col < n)


def solution(scores, weights, scale, heads, n):
    softmax_row[(heads * n,)](scores, weights, scale, n, BLOCK=triton.next_power_of_2(n))
