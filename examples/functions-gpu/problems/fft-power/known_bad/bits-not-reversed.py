import torch


def solution(x, power, batch, n):
    power.copy_(torch.fft.rfft(torch.cat([x[:, ::2], x[:, 1::2]], dim=1)).abs().square() / n)  # even places first
