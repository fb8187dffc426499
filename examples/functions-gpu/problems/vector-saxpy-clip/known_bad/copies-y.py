def solution(x, y, out, a, lo, hi, n):
    out.copy_(y.clamp(lo, hi))
