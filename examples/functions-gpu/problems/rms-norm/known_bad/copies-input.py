def solution(x, weight, y, epsilon, rows, cols):
    y.copy_(x)
