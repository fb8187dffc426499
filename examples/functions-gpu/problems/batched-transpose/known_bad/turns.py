def solution(x, y, batch, rows, cols):
    y.copy_(x.rot90(1, (1, 2)))
