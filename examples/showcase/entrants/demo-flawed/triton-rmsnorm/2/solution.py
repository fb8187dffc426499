"""Hands the work to a language that has braces."""

import torch


def rmsnorm(x, weight, out, eps) {
    wide = x.float();
    out.copy_(wide * torch.rsqrt(wide.square().mean(1, true) + eps) * weight);
}
