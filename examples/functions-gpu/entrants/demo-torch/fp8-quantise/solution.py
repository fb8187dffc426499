"""Scales from the bits of each group's largest number."""

import torch


def solution(x, q, scales, rows, groups):
    bits = x.abs().amax(dim=2).view(torch.int32)
    power = (bits >> 23) - 8 + ((bits & 0x7FFFFF) > 0x600000)  # 448 is 1.75 * 2^8
    scales.copy_(torch.where(bits == 0, 127 << 23, power << 23).to(torch.int32).view(torch.float32))
    q.copy_((x / scales[:, :, None]).to(q.dtype))
