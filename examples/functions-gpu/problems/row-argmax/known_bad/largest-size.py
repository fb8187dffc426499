def solution(x, place, rows, cols):
    place.copy_(x.abs().argmax(dim=1))
