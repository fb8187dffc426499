"""One program for a stretch of one channel of one image."""

import triton
import triton.language as tl


@triton.jit
def filter_channel(x, weight, y, channels, height, width, BLOCK: tl.constexpr):
    plane = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = at // width
    col = at % width
    first = plane * height * width
    taps = weight + plane % channels * 9
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in tl.static_range(3):
        for j in tl.static_range(3):
            from_row = row + i - 1
            from_col = col + j - 1
            inside = (from_row >= 0) & (from_row < height) & (from_col >= 0) & (from_col < width)
            value = tl.load(x + first + from_row * width + from_col, mask=inside, other=0.0)
            total += tl.load(taps + 3 * i + j) * value
    tl.store(y + first + at, total, mask=at < height * width)


def solution(x, weight, y, batch, channels, height, width):
    grid = (batch * channels, triton.cdiv(height * width, 1024))
    filter_channel[grid](x, weight, y, channels, height, width, BLOCK=1024)
