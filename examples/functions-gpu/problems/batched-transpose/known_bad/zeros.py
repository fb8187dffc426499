def solution(x, y, batch, rows, cols):
    y.zero_()
