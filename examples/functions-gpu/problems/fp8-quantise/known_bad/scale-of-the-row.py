import torch


def power_of_two(largest):
    bits = largest.contiguous().view(torch.int32)
    power = (bits >> 23) - 8 + ((bits & 0x7FFFFF) > 0x600000).int()
    return torch.where(bits == 0, 127, power).int().bitwise_left_shift(23).view(torch.float32)


def solution(x, q, scales, rows, groups):
    scale = power_of_two(x.abs().amax(dim=(1, 2))[:, None].expand(rows, groups))
    scales.copy_(scale)
    q.copy_((x / scale[:, :, None]).to(torch.float8_e4m3fn))
