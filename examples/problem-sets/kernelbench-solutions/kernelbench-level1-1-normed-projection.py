"""The same layers under other names: their weights are recognised by the constructor's seed."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width, outputs):
        super().__init__()
        self.first = nn.BatchNorm1d(width)
        self.second = nn.Linear(width, outputs)

    def forward(self, x):
        mean, variance = x.mean(dim=0), x.var(dim=0, unbiased=False)
        scale = self.first.weight * torch.rsqrt(variance + self.first.eps)
        normed = (x - mean) * scale + self.first.bias
        return torch.addmm(self.second.bias, normed, self.second.weight.T).tanh_()
