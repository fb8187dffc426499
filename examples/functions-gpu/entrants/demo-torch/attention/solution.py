"""torch's attention, which keeps the scores on the chip."""

import torch


def solution(q, k, v, y, scale, heads, n):
    y.copy_(torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True, scale=scale)[0])
