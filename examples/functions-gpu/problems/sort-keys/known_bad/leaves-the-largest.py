import torch


def solution(keys, in_order, n):
    in_order[: n - 1] = torch.sort(keys).values[: n - 1]
