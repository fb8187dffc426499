"""Three kernels: the total of each part, the running sums of at most 1,024 totals, and the running sums within each part."""

import torch
import triton
import triton.language as tl

PARTS, TILE = 1024, 2048


@triton.jit
def add_up(values, totals, n, part, TILE: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * part
    last = tl.minimum(first + part, n)
    lanes = tl.zeros((TILE,), dtype=tl.int64)
    for done in range(0, part, TILE):
        at = first + done + tl.arange(0, TILE)
        lanes += tl.load(values + at, mask=at < last, other=0)
    tl.store(totals + tl.program_id(0), tl.sum(lanes, axis=0))


@triton.jit
def scan_totals(totals, PARTS: tl.constexpr):
    part = tl.arange(0, PARTS)
    total = tl.load(totals + part)
    tl.store(totals + part, tl.cumsum(total, axis=0) - total)


@triton.jit
def scan_parts(values, totals, sums, n, part, TILE: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * part
    last = tl.minimum(first + part, n)
    before = tl.load(totals + tl.program_id(0))
    for done in range(0, part, TILE):
        at = first + done + tl.arange(0, TILE)
        value = tl.load(values + at, mask=at < last, other=0)
        tl.store(sums + at, before + tl.cumsum(value, axis=0), mask=at < last)
        before += tl.sum(value, axis=0)


def solution(values, sums, n):
    part = triton.cdiv(triton.cdiv(n, TILE), PARTS) * TILE
    parts = triton.cdiv(n, part)
    totals = torch.zeros(PARTS, dtype=torch.int64, device=values.device)
    add_up[(parts,)](values, totals, n, part, TILE=TILE, num_warps=8)
    scan_totals[(1,)](totals, PARTS=PARTS)
    scan_parts[(parts,)](values, totals, sums, n, part, TILE=TILE, num_warps=8)
