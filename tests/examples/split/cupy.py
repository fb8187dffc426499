"""Stands for CuPy where there is no GPU: what podium_split.py asks of it, on arrays of ctypes. Ranges go to the log."""

import ctypes
import math
import sys
import types
from typing import Any


def asarray(view: Any) -> Any:
    given = view.__cuda_array_interface__
    assert given["typestr"] == "<f4"
    return (ctypes.c_float * math.prod(given["shape"])).from_address(given["data"][0])


def log(*words: object) -> None:
    sys.stderr.write(" ".join(map(str, words)) + "\n")


runtime = types.SimpleNamespace(free=lambda address: None, deviceSynchronize=lambda: None)
cuda = types.ModuleType("cupy.cuda")
nvtx = types.ModuleType("cupy.cuda.nvtx")
nvtx.RangePush = lambda name: log("pushed", name)  # type: ignore[attr-defined]
nvtx.RangePop = lambda: log("popped")  # type: ignore[attr-defined]
cuda.runtime, cuda.nvtx = runtime, nvtx  # type: ignore[attr-defined]
__path__: list[str] = []
sys.modules |= {"cupy.cuda": cuda, "cupy.cuda.nvtx": nvtx}
