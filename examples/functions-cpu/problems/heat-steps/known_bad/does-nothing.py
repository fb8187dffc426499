def solution(grid, rate, steps, rows, cols):
    pass
