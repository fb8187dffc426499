"""torch's radix sort. Triton sorts within one program alone, and merging the programs' results takes many more passes."""

import torch


def solution(keys, in_order, n):
    in_order.copy_(torch.sort(keys).values)
