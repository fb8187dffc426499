"""PyTorch's own RMS norm."""

import torch


def rmsnorm(x, weight, out, eps):
    out.copy_(torch.nn.functional.rms_norm(x, (x.shape[1],), weight, eps))
