def solution(x, weight, y, epsilon, rows, cols):
    y.zero_()
