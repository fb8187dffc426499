import torch


def solution(x, place, rows, cols):
    place.copy_(x.argmax(dim=1) + cols * torch.arange(rows, device=x.device))
