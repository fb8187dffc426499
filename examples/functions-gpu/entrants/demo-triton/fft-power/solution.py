"""The transform is torch's: its stages exchange numbers between lanes, which Triton cannot do cheaply. The powers are made in Triton."""

import torch
import triton
import triton.language as tl


@triton.jit
def power_of(spectrum, power, count, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    re = tl.load(spectrum + 2 * at, mask=at < count, other=0.0)
    im = tl.load(spectrum + 2 * at + 1, mask=at < count, other=0.0)
    tl.store(power + at, (re * re + im * im) / n, mask=at < count)


def solution(x, power, batch, n):
    spectrum = torch.view_as_real(torch.fft.rfft(x, dim=1))
    power_of[(triton.cdiv(power.numel(), 1024),)](spectrum, power, power.numel(), n, BLOCK=1024)
