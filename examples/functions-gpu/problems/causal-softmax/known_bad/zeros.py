def solution(scores, weights, scale, heads, n):
    weights.zero_()
