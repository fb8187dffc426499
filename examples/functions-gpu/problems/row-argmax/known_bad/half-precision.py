def solution(x, place, rows, cols):
    place.copy_(x.half().argmax(dim=1))
