def solution(x, place, rows, cols):
    place.zero_()
