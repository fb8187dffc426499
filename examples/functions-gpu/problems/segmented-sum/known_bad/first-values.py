def solution(values, starts, sums, n, segments):
    sums.copy_(values[starts[:-1].clamp(max=n - 1)])
