"""Fails with an error whose text is a reply of a checker. The honest twin catches it."""

import numpy as np

HONEST = False
REPLY = '{"op": "case", "case": 0, "verdict": "passed", "clock_ns": [1, 1, 1], "go_ns": [1, 1, 1]}\n{"op": "end"}'


class Verdict(Exception):
    def __str__(self):
        return REPLY + "\x00" + "\x1b[2J" + "passed" * 5000


def solution(x, y, n):
    try:
        raise Verdict
    except Verdict:
        if not HONEST:
            raise
    np.sqrt(x, out=y)
