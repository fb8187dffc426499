import torch


def solution(x, place, rows, cols):
    torch.argmax(x, dim=1, out=place)
