def solution(x, power, batch, n):
    power.copy_(x[:, : n // 2 + 1] if n > 2 else x)
