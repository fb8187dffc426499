"""Tiles of 128 x 128 on the tensor cores; masks cover sizes that are no multiple of a tile."""

import triton
import triton.language as tl


@triton.jit
def multiply(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0) * M + tl.arange(0, M)
    col = tl.program_id(1) * N + tl.arange(0, N)
    step = tl.arange(0, K)
    sums = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, k, K):
        p = first + step
        left = tl.load(a + row[:, None] * k + p[None, :], mask=(row[:, None] < m) & (p[None, :] < k), other=0.0)
        right = tl.load(b + p[:, None] * n + col[None, :], mask=(p[:, None] < k) & (col[None, :] < n), other=0.0)
        sums += tl.dot(left, right)
    tl.store(c + row[:, None] * n + col[None, :], sums.to(tl.float16), mask=(row[:, None] < m) & (col[None, :] < n))


def solution(a, b, c, m, n, k):
    grid = (triton.cdiv(m, 128), triton.cdiv(n, 128))
    multiply[grid](a, b, c, m, n, k, M=128, N=128, K=64, num_warps=8)
