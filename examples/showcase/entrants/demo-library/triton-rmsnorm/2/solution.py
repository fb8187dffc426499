"""Sums of squares as products of each row with itself, and the scaling in place."""

import torch


def rmsnorm(x, weight, out, eps):
    wide = x.float()
    squares = torch.einsum("rc,rc->r", wide, wide)
    scale = torch.rsqrt(squares / x.shape[1] + eps)
    out.copy_(wide.mul_(scale[:, None]).mul_(weight))
