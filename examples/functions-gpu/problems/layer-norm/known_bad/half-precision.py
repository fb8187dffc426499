import torch


def solution(x, gamma, beta, y, epsilon, rows, cols):
    y.copy_(torch.nn.functional.layer_norm(x.bfloat16().float(), (cols,), gamma, beta, epsilon))
