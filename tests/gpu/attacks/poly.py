"""The common part of every solution in Python here: the work, about 15 ms for 16 Mi elements. A test puts this text
in the place of the line that imports it. HONEST True makes a solution its own honest twin."""

import torch


def work(x, y):
    """All 8192 terms: 64 times 128 of them, in 380 passes over the memory."""
    torch.mul(sum_of_powers(x, 64), sum_of_powers(x**64, 128).mul_(0.5), out=y)


def sum_of_powers(u, count):
    v = torch.ones_like(u)
    for _ in range(count - 1):
        v.mul_(u).add_(1)
    return v
