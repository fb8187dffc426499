def solution(x, weight, y, batch, channels, height, width):
    y.copy_(x)
