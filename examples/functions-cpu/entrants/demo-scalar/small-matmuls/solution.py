"""Slow on purpose: one pass over all of c for each of the k terms of its sums."""


def solution(a, b, c, batch, m, n, k):
    c[...] = 0
    for p in range(k):
        c += a[:, :, p, None] * b[:, None, p, :]
