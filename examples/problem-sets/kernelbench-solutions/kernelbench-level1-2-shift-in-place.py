import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, parts, factor):
        low, high = parts
        scaled = x * factor
        return torch.maximum(scaled, low), scaled.sum(dim=1) + high
