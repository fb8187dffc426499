import torch


def solution(x, gamma, beta, y, epsilon, rows, cols):
    y.copy_(torch.nn.functional.layer_norm(x, (cols,), gamma, beta, epsilon))
