def solution(x, y, out, a, lo, hi, n):
    out.copy_((x + y).clamp(lo, hi))
