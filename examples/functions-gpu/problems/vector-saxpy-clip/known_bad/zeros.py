def solution(x, y, out, a, lo, hi, n):
    out.zero_()
