import torch


def solution(x, power, batch, n):
    power[:, : n // 2] = torch.fft.rfft(x)[:, : n // 2].abs().square() / n
