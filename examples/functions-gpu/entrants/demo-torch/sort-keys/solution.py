import torch


def solution(keys, in_order, n):
    in_order.copy_(torch.sort(keys).values)
