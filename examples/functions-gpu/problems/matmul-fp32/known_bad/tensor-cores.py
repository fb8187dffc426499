import triton
import triton.language as tl


@triton.jit
def multiply(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0) * M + tl.arange(0, M)
    col = tl.program_id(1) * N + tl.arange(0, N)
    sums = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, k, K):
        p = first + tl.arange(0, K)
        left = tl.load(a + row[:, None] * k + p[None, :], mask=(row[:, None] < m) & (p[None, :] < k), other=0.0)
        right = tl.load(b + p[:, None] * n + col[None, :], mask=(p[:, None] < k) & (col[None, :] < n), other=0.0)
        sums += tl.dot(left, right, input_precision="tf32")  # 10 bits of fraction
    tl.store(c + row[:, None] * n + col[None, :], sums, mask=(row[:, None] < m) & (col[None, :] < n))


def solution(a, b, c, m, n, k):
    multiply[(triton.cdiv(m, 64), triton.cdiv(n, 64))](a, b, c, m, n, k, M=64, N=64, K=32)
