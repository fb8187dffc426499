import torch


def solution(x, place, rows, cols):
    bits = x.view(torch.int32)
    keys = torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits)  # whole numbers in the order of the floats, but -0 before 0
    is_largest = keys == keys.amax(dim=1, keepdim=True)
    place.copy_(torch.where(is_largest, torch.arange(cols, device=x.device), cols).amin(dim=1))
