import torch


def solution(x, weight, y, batch, channels, height, width):
    flipped = weight.flip(1, 2)[:, None]
    for image in range(batch):
        y[image] = torch.conv2d(x[image : image + 1].double(), flipped.double(), padding=1, groups=channels)[0].float()
