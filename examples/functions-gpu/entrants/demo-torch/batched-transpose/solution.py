def solution(x, y, batch, rows, cols):
    y.copy_(x.transpose(1, 2))
