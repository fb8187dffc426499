import torch


def solution(keys, in_order, n):
    different = torch.unique(keys)
    in_order.fill_(different[-1])
    in_order[: different.numel()] = different
