"""One program for each row, with warps by the row's length; x and out pass the caches by, the weight stays in them."""

import torch
import triton
import triton.language as tl


@triton.jit
def normalise_row(x, weight, out, columns, eps, block: tl.constexpr, even: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    place = tl.arange(0, block)
    if even:
        values = tl.load(x + row + place, eviction_policy="evict_first").to(tl.float32)
        factors = tl.load(weight + place, eviction_policy="evict_last").to(tl.float32)
    else:
        values = tl.load(x + row + place, mask=place < columns, other=0.0).to(tl.float32)
        factors = tl.load(weight + place, mask=place < columns, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / columns + eps)
    results = (values * scale * factors).to(tl.float16)
    if even:
        tl.store(out + row + place, results, eviction_policy="evict_first")
    else:
        tl.store(out + row + place, results, mask=place < columns)


def rmsnorm(x, weight, out, eps):
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    warps = min(max(block // 1024, 1), 16)
    normalise_row[(rows,)](x, weight, out, columns, eps, block=block, even=block == columns, num_warps=warps)
