"""Ends by an interrupt of its own, as if a person had stopped the judge. The honest twin catches it."""

import numpy as np

HONEST = False


class Stopped(KeyboardInterrupt):
    def __str__(self):
        return "stopped by the operator"


def solution(x, y, n):
    try:
        raise Stopped
    except KeyboardInterrupt:
        if not HONEST:
            raise
    np.sqrt(x, out=y)
