"""Slow on purpose: a stable sort of whole rows, since torch's topk leaves open which of equal numbers it takes."""

import torch

ROWS = 8192


def solution(scores, best, places, rows, cols, k):
    for first in range(0, rows, ROWS):  # bounds the memory of the sorted copies
        values, order = torch.sort(scores[first : first + ROWS], dim=1, descending=True, stable=True)
        best[first : first + ROWS] = values[:, :k]
        places[first : first + ROWS] = order[:, :k]
