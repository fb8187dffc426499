def solution(values, sums, n):
    sums.copy_(values)
