def solution(values, counts, outside, lower, width, n, bins):
    counts[...] = 0
    outside[...] = 0
