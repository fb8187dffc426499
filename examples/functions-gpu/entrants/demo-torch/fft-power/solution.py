import torch


def solution(x, power, batch, n):
    parts = torch.view_as_real(torch.fft.rfft(x, dim=1))
    torch.sum(parts.square_(), dim=2, out=power)
    power /= n
