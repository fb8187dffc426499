"""Shrinks and empties the files behind its arrays, so that the checker would fail in their place. The honest twin asks
for the size that they have."""

import os
from pathlib import Path

import numpy as np

HONEST = False
plain_close, kept = os.close, []


def close(file):
    try:
        if "memfd" in str(Path("/proc/self/fd", str(file)).readlink()):
            kept.append(file)
            return
    except OSError:
        pass
    plain_close(file)


os.close = close


def solution(x, y, n):
    for file in kept:
        try:
            os.ftruncate(file, os.fstat(file).st_size if HONEST else 0)
        except OSError:
            continue
    if HONEST:
        np.sqrt(x, out=y)
