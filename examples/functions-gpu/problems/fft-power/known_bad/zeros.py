def solution(x, power, batch, n):
    power.zero_()
