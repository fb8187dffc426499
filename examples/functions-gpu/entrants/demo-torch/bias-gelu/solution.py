"""Four passes: two conversions with the sum between them, the function, and the rounding."""

import torch


def solution(x, bias, y, rows, cols):
    y.copy_(torch.nn.functional.gelu(x.float() + bias.float()))
