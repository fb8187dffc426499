"""Programs count in 512 copies of the histogram, so that few additions to one counter meet; then the copies are summed."""

import torch
import triton
import triton.language as tl

BINS, COPIES = 4096, 512


@triton.jit
def count(values, copies, n, BINS: tl.constexpr, COPIES: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    scaled = tl.floor(tl.load(values + at, mask=at < n, other=-1.0) * BINS)
    inside = (scaled >= 0) & (scaled < BINS)
    place = tl.where(inside, scaled, 0.0).to(tl.int32)
    own = copies + tl.program_id(0) % COPIES * BINS
    tl.atomic_add(own + place, tl.full((BLOCK,), 1, dtype=tl.int32), mask=inside, sem="relaxed")


@triton.jit
def add_copies(copies, counts, BINS: tl.constexpr, COPIES: tl.constexpr, WIDTH: tl.constexpr):
    place = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    sums = tl.zeros((WIDTH,), dtype=tl.int64)
    for copy in range(0, COPIES):
        sums += tl.load(copies + copy * BINS + place)
    tl.store(counts + place, sums)


def solution(values, counts, n):
    copies = torch.zeros(COPIES * BINS, dtype=torch.int32, device=values.device)
    count[(triton.cdiv(n, 4096),)](values, copies, n, BINS=BINS, COPIES=COPIES, BLOCK=4096)
    add_copies[(BINS // 32,)](copies, counts, BINS=BINS, COPIES=COPIES, WIDTH=32, num_warps=1)
