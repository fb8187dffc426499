def solution(values, starts, sums, n, segments):
    sums.zero_()
