def solution(values, sums, n):
    sums[...] = 0
