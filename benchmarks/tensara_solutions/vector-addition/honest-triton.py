"""Adds two vectors, 1024 elements a program."""

import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def add(a, b, c, n, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    inside = at < n
    tl.store(c + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


def solution(d_input1, d_input2, d_output, n):
    add[(triton.cdiv(n, BLOCK),)](d_input1, d_input2, d_output, n, SIZE=BLOCK)
