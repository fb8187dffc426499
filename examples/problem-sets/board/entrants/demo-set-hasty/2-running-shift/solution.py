def solution(values, shifts, rows, cols):
    values[:, :-1].add_(shifts.unsqueeze(1))
