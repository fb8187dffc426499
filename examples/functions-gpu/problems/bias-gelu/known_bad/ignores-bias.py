import torch


def solution(x, bias, y, rows, cols):
    y.copy_(torch.nn.functional.gelu(x.float()))
