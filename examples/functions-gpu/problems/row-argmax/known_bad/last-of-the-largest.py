def solution(x, place, rows, cols):
    place.copy_(cols - 1 - x.flip(1).argmax(dim=1))
