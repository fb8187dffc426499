import torch


def solution(x, result, rows, cols):
    result.copy_(torch.logsumexp(x.half().float(), dim=0))
