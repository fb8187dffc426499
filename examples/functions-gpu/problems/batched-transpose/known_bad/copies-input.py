def solution(x, y, batch, rows, cols):
    y.copy_(x.reshape(batch, cols, rows))
