def solution(x, y, out, a, lo, hi, n):
    out.copy_((a * x.half() + y.half()).clamp(lo, hi))
