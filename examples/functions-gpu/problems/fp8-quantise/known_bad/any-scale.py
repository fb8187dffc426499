import torch


def solution(x, q, scales, rows, groups):
    scale = x.abs().amax(dim=2) / 448  # no power of two
    scale = torch.where(scale == 0, 1.0, scale)
    scales.copy_(scale)
    q.copy_((x / scale[:, :, None]).to(torch.float8_e4m3fn))
