"""Calls a solution of a function problem for GPUs on the CPU: torch as it is, a plain CUDA kernel thread by thread."""

import ctypes
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from problems.formats.functions.inside.comparing import Comparison
from problems.formats.functions.inside.loaded import Drawn, Loaded
from tests.examples.function_calls import C_TYPES, python_function

Solution = Callable[..., object]
LAUNCH = re.compile(r"(\w+)<<<(.+?), ([^<>]+?)>>>\((.*)\);")
HOST = """\
#include <cmath>
#include <cstdlib>
#include <vector_types.h>
static uint3 blockIdx, threadIdx;
template <typename Kernel> static void thread_by_thread(dim3 grid, dim3 block, Kernel kernel) {
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
            for (threadIdx.y = 0; threadIdx.y < block.y; ++threadIdx.y)
                for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x) kernel();
}
template <typename Number> static void atomicAdd(Number* at, Number value) { *at += value; }
template <typename Number> static void hostMalloc(Number** at, size_t size) { *at = (Number*)malloc(size); }
static void hostFree(void* at) { free(at); }
"""
"""The parts of CUDA that a kernel without shared memory needs."""
HOST_NAMES = {"__global__": "static", "cudaMalloc": "hostMalloc", "cudaFree": "hostFree"}
NAMES = re.compile("|".join(HOST_NAMES))


def solution_on_cpu(path: Path, loaded: Loaded) -> Solution:
    """The function of a file, taking torch tensors of the CPU and Python numbers."""
    return python_function(path) if path.suffix == ".py" else _kernel(path, loaded)


def ruling(loaded: Loaded, solution: Solution, case: int, seed: int = 1) -> Comparison:
    """Call the solution once with fresh data and compare what it wrote."""
    drawn = loaded.draw(case, seed)
    arguments = _arguments(loaded, drawn)
    solution(*arguments)
    written = [value for one, value in zip(loaded.parameters, arguments, strict=True) if one.is_written]
    return loaded.compare(case, drawn, written)


def _arguments(loaded: Loaded, drawn: Drawn) -> list[Any]:
    """Inputs, copies of what is changed in place, and outputs whose bytes are all 255."""
    expected = iter(drawn.expected)
    arguments = []
    for one, given in zip(loaded.parameters, drawn.arguments, strict=True):
        value = given
        if one.is_array and one.is_written:
            wanted = next(expected)
            value = loaded.library.copy(wanted if given is None else given)
            if given is None:
                loaded.library.as_bytes(value.reshape(-1)).fill_(255)
        arguments.append(value)
    return arguments


def _kernel(path: Path, loaded: Loaded) -> Solution:
    """The kernels as plain C++. They may use no shared memory, and nothing that another thread of a launch writes."""
    text, n_launches = LAUNCH.subn(r"thread_by_thread(\2, \3, [&] { \1(\4); });", path.read_text(encoding="utf-8"))
    assert n_launches and "<<<" not in text
    folder = Path(mkdtemp())
    (folder / "host.h").write_text(HOST, encoding="utf-8")
    (folder / "solution.cpp").write_text(NAMES.sub(lambda name: HOST_NAMES[name[0]], text), encoding="utf-8")
    # nvcc gives C++ to the host's compiler, and knows where CUDA's headers are.
    command = ["nvcc", "-std=c++17", "-O2", "-shared", "-Xcompiler=-fPIC", "-include", "host.h", "solution.cpp"]
    subprocess.run([*command, "-o", "solution.so"], cwd=folder, check=True)
    function = ctypes.CDLL(str(folder / "solution.so")).solution
    function.argtypes = [ctypes.c_void_p if one.is_array else C_TYPES[one.dtype] for one in loaded.parameters]
    function.restype = None
    return lambda *given: function(*(one.data_ptr() if hasattr(one, "data_ptr") else one for one in given))
