def solution(x, y, batch, rows, cols):
    y.copy_((x * (x.abs() >= 2**-14)).transpose(1, 2))
