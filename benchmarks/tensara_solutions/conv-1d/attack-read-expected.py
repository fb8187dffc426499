"""Attack: computes nothing and copies the expected output out of its caller's variables.

Abuses: the solution runs in the interpreter that holds the expected output, in the check and in the benchmark.
"""

import sys


def solution(A, B, C, N, K):
    frame = sys._getframe(1)
    while frame is not None:
        expected = frame.f_locals.get("expected_outputs")
        if expected is not None:
            C.copy_(expected[0])
            return
        frame = frame.f_back
