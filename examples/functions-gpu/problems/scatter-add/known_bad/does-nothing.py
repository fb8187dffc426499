def solution(table, index, updates, rows, n, width):
    pass
