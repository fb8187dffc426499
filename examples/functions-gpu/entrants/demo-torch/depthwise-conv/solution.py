import torch

torch.backends.cudnn.allow_tf32 = False


def solution(x, weight, y, batch, channels, height, width):
    y.copy_(torch.nn.functional.conv2d(x, weight[:, None], padding=1, groups=channels))
