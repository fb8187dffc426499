def solution(values, sums, n):
    sums.copy_(values.flip(0).cumsum(0).flip(0))
