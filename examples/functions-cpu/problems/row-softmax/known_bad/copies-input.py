def solution(x, y, temperature, rows, cols):
    y[...] = x
