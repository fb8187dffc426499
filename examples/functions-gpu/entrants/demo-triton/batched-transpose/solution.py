"""One program for a tile of 64 x 64 of one matrix."""

import triton
import triton.language as tl


@triton.jit
def transpose(x, y, rows, cols, TILE: tl.constexpr):
    matrix = tl.program_id(2).to(tl.int64) * rows * cols
    col = tl.program_id(0) * TILE + tl.arange(0, TILE)
    row = tl.program_id(1) * TILE + tl.arange(0, TILE)
    tile = tl.load(x + matrix + row[:, None] * cols + col[None, :], mask=(row[:, None] < rows) & (col[None, :] < cols))
    at = y + matrix + col[:, None] * rows + row[None, :]
    tl.store(at, tl.trans(tile), mask=(row[None, :] < rows) & (col[:, None] < cols))


def solution(x, y, batch, rows, cols):
    grid = (triton.cdiv(cols, 64), triton.cdiv(rows, 64), batch)
    transpose[grid](x, y, rows, cols, TILE=64)
