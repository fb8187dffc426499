import torch


def solution(keys, in_order, n):
    in_order.copy_(torch.sort(keys.long() & 0xFFFFFFFF).values.to(torch.int32))  # negative keys come last
