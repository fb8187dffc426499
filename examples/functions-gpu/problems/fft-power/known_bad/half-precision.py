import torch


def solution(x, power, batch, n):
    power.copy_(torch.fft.rfft(x.half().float()).abs().square() / n)
