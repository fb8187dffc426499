def solution(values, restart, sums, n):
    sums[...] = values
