import torch


def power_of_two(largest):
    bits = largest.contiguous().view(torch.int32)
    power = (bits >> 23) - 8 + ((bits & 0x7FFFFF) > 0x600000).int()
    return torch.where(bits == 0, 127, power).int().bitwise_left_shift(23).view(torch.float32)


def solution(x, q, scales, rows, groups):
    scale = power_of_two(x.abs().amax(dim=2))
    scales.copy_(scale)
    cut = ((x / scale[:, :, None]).view(torch.int32) & ~0xFFFFF).view(torch.float32)  # three bits are left
    q.copy_(cut.to(torch.float8_e4m3fn))
