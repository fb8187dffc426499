"""Calls a solution of a function problem directly, in this process: for the examples, which are trusted."""

import ctypes
import importlib.util
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from problems.formats.functions.inside.comparing import Comparison
from problems.formats.functions.inside.loaded import Drawn, Loaded

Solution = Callable[..., object]

C_TYPES: dict[str, Any] = {
    "size_t": ctypes.c_size_t,
    "int32": ctypes.c_int32,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


def solution_of(path: Path, loaded: Loaded) -> Solution:
    """The function of a file, taking numpy arrays and Python numbers."""
    return python_function(path) if path.suffix == ".py" else _c_function(path, loaded)


def verdict(loaded: Loaded, solution: Solution, seed: int = 1) -> str:
    """`passed` if every case is right, else `wrong_answer`."""
    rulings = (rule(loaded, solution, number, seed) for number in range(len(loaded.cases)))
    return "passed" if all(one.right for one in rulings) else "wrong_answer"


def rule(loaded: Loaded, solution: Solution, case: int, seed: int) -> Comparison:
    """Call the solution once with fresh data and compare what it wrote."""
    drawn = loaded.draw(case, seed)
    arguments = arguments_of(loaded, drawn)
    with np.errstate(all="ignore"):
        solution(*arguments)
    written = [value for one, value in zip(loaded.parameters, arguments, strict=True) if one.is_array and one.is_written]
    return loaded.compare(case, drawn, written)


def arguments_of(loaded: Loaded, drawn: Drawn) -> list[Any]:
    """Inputs that cannot be written, and outputs whose bytes are all 255."""
    expected = iter(drawn.expected)
    arguments = []
    for one, given in zip(loaded.parameters, drawn.arguments, strict=True):
        value = given
        if one.is_array and one.is_written:
            wanted = next(expected)
            value = np.full(wanted.nbytes, 255, np.uint8).view(wanted.dtype).reshape(wanted.shape)
            if given is not None:
                value[...] = given
        elif one.is_array:
            value.flags.writeable = False
        arguments.append(value)
    return arguments


def python_function(path: Path) -> Solution:
    spec = importlib.util.spec_from_file_location("solution", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Solution = module.solution
    return function


def _c_function(path: Path, loaded: Loaded) -> Solution:
    function = ctypes.CDLL(str(_shared_object(path))).solution
    function.restype = None
    function.argtypes = [ctypes.c_void_p if one.is_array else C_TYPES[one.dtype] for one in loaded.parameters]

    def call(*arguments: Any) -> None:
        function(*(value.ctypes.data if isinstance(value, np.ndarray) else value for value in arguments))

    return call


@cache
def _shared_object(path: Path) -> Path:
    target = Path(mkdtemp()) / "solution.so"
    subprocess.run(["g++", "-std=c++17", "-O2", "-shared", "-fPIC", "-o", target, path], check=True)
    return target
