def solution(x, index, rows, cols):
    index[...] = 0
