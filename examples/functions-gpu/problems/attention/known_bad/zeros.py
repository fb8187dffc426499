def solution(q, k, v, y, scale, heads, n):
    y.zero_()
