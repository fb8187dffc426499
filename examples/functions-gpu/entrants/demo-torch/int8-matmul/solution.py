"""Slow on purpose: a product in float64, which holds all sums exactly."""

import torch


def solution(a, b, c, m, n, k):
    c.copy_(torch.matmul(a.double(), b.double()))
