"""A norm for each row by PyTorch's linear algebra, and two products written straight to where they belong."""

import torch


def rmsnorm(x, weight, out, eps):
    columns = x.shape[1]
    norm = torch.linalg.vector_norm(x, dim=1, keepdim=True, dtype=torch.float32)
    scale = torch.rsqrt(norm.square() / columns + eps)
    torch.mul(x * scale, weight, out=out)
