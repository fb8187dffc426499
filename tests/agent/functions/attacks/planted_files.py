"""Plants modules, settings and a library where the next run might load them. The honest twin writes its own files."""

import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

HONEST = False
PLANTED = """
import numpy as np
def solution(x, y, n):
    np.sqrt(x, out=y)
"""
NAMES = (
    "sitecustomize.py", "usercustomize.py", "solution.py", "numpy.py", "judge/__init__.py", "judge/contestant.py",
    "judge.py", "def.py", "podium_functions.py", ".pth", "planted.pth", "pyvenv.cfg", "contestant",
    "libpodium_clock.so",
)  # fmt: skip
PLACES = (
    ".", "..", "/tmp", "/var/tmp", "/dev/shm", "/podium-judge", "/podium-functions", "/podium-clock", "/root", "/home",
    "/etc/profile.d",
)  # fmt: skip


def plant():
    for place in [*PLACES, *(one for one in sys.path if one)]:
        for name in NAMES:
            path = Path(place, name)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(PLANTED)
            except OSError:
                continue
    with suppress(OSError):
        Path("/etc/ld.so.preload").write_text("/tmp/contestant")


def solution(x, y, n):
    if HONEST:
        Path("own.txt").write_text(PLANTED)
    else:
        plant()
    np.sqrt(x, out=y)
