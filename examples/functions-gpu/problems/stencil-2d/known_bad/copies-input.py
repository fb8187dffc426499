def solution(x, y, rate, rows, cols):
    y.copy_(x)
