"""The Python with torch under which a set's files run: PODIUM_PYTHON, else this one."""

import os
import subprocess
import sys
from functools import cache

import pytest


@cache
def has_torch() -> bool:
    """Whether problems run under a Python with torch here."""
    python = os.environ.get("PODIUM_PYTHON") or sys.executable
    done = subprocess.run([python, "-c", "import torch, numpy"], capture_output=True, check=False)
    return done.returncode == 0


needs_torch = pytest.mark.skipif(not has_torch(), reason="needs torch in the Python that PODIUM_PYTHON names")
