def solution(x, y, batch, rows, cols):
    y.copy_(x.transpose(1, 2))
    side = min(rows, cols, 32)
    y[:, :side, :side] = x[:, :side, :side]
