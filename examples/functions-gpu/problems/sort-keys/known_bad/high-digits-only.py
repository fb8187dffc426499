import torch


def solution(keys, in_order, n):
    in_order.copy_(keys[torch.argsort(keys >> 8, stable=True)])
