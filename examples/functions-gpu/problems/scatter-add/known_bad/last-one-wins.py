def solution(table, index, updates, rows, n, width):
    table[index] += updates  # of several updates of a row, one is kept
