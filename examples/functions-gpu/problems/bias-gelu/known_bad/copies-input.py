def solution(x, bias, y, rows, cols):
    y.copy_(x)
