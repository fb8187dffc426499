"""Sixteen groups for each program. The scale is made from the bits of the largest number."""

import triton
import triton.language as tl


@triton.jit
def quantise(x, q, scales, groups, GROUPS: tl.constexpr):
    group = tl.program_id(0) * GROUPS + tl.arange(0, GROUPS)
    at = group[:, None] * 128 + tl.arange(0, 128)[None, :]
    value = tl.load(x + at, mask=group[:, None] < groups, other=0.0)
    bits = tl.max(tl.abs(value), axis=1).to(tl.int32, bitcast=True)
    # 448 is 1.75 * 2^8: a fraction above .75 needs the next power of two.
    power = (bits >> 23) - 8 + tl.where((bits & 0x7FFFFF) > 0x600000, 1, 0)
    power = tl.where(bits == 0, 127, power)
    inverse = ((254 - power) << 23).to(tl.float32, bitcast=True)
    tl.store(q + at, (value * inverse[:, None]).to(tl.float8e4nv), mask=group[:, None] < groups)
    tl.store(scales + group, (power << 23).to(tl.float32, bitcast=True), mask=group < groups)


def solution(x, q, scales, rows, groups):
    quantise[(triton.cdiv(rows * groups, 16),)](x, q, scales, rows * groups, GROUPS=16)
