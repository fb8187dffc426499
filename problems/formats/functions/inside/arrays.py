"""The two array libraries behind one face: numpy on a CPU, torch on a CPU or a GPU."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib.util import find_spec
from typing import Any, Protocol

NUMPY_DTYPES = (
    "float64", "float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
)  # fmt: skip
FLOATS = ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
ITEM_BYTES = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "float4_e2m1fn_x2": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4,
    "uint64": 8, "bool": 1,
}  # fmt: skip

Replacements = list[tuple[Any, str, Any]]


class Library(Protocol):
    """The functions of an array library that the forms use."""

    name: str
    block: int
    """Number of elements to compare at a time."""
    device: str
    has_values: bool

    def dtype(self, name: str) -> Any:
        """The library's data type; None if it has none of that name."""

    def dtype_name(self, array: Any) -> str: ...

    def is_array(self, value: Any) -> bool: ...

    def owned(self, array: Any, dtype: str) -> Any:
        """A C-contiguous array of the data type, which may be the same one."""

    def copy(self, array: Any) -> Any: ...

    def fill(self, array: Any, values: Any) -> None:
        """Write values into an array in place."""

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function by the library's compiler; unchanged where it has none."""

    def guarded(self, array: Any) -> Any:
        """The array for someone who must not change it."""

    def is_changed(self, guarded: Any) -> bool:
        """Whether a guarded array was changed all the same, as far as the library tells."""

    def generator(self, seed: int) -> Any: ...

    def seed_globally(self, seed: int) -> None: ...

    def seed_replacements(self, seeded: Callable[[object], Any]) -> Replacements: ...

    def placing(self) -> AbstractContextManager[Any]:
        """While it holds, arrays made for a named device are made on the library's own."""

    def on_cpu(self, array: Any) -> Any: ...

    def wide(self, flat: Any) -> Any:
        """A flat array as float64."""

    def ravelled(self, array: Any) -> Any: ...

    def as_bytes(self, flat: Any) -> Any:
        """A flat array of one-byte elements as uint8, in the same memory."""

    def same(self, left: Any, right: Any) -> Any:
        """Element by element: equal values. For arrays of whole numbers."""

    def all_same(self, left: Any, right: Any) -> bool:
        """Whether all elements are equal, by a quick look: True is sure, NaN and the zeros' signs may make it False."""

    def all_near(self, expected: Any, actual: Any, rtol: float, atol: float) -> bool:
        """Whether |actual − expected| ≤ atol + rtol · |expected| for all finite floats; True is sure, False is not."""

    def distance(self, left: Any, right: Any) -> Any:
        """Element by element: the absolute difference."""

    def positions(self, mask: Any, count: int) -> list[int]:
        """The first `count` places where a flat mask holds."""


class NumpyArrays:
    """numpy."""

    name = "numpy"
    block = 1 << 15  # a comparison's temporary arrays stay in a core's cache
    device = "cpu"
    has_values = True

    def __init__(self) -> None:
        self._np: Any = importlib.import_module("numpy")

    def dtype(self, name: str) -> Any:
        return self._np.dtype(name) if name in NUMPY_DTYPES else None

    def dtype_name(self, array: Any) -> str:
        return str(array.dtype)

    def is_array(self, value: Any) -> bool:
        return isinstance(value, self._np.ndarray)

    def owned(self, array: Any, dtype: str) -> Any:
        return self._np.ascontiguousarray(array, dtype=self.dtype(dtype)).reshape(array.shape)

    def copy(self, array: Any) -> Any:
        return array.copy()

    def fill(self, array: Any, values: Any) -> None:
        array[...] = values

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def guarded(self, array: Any) -> Any:
        view = array.view()
        view.flags.writeable = False
        return view

    def is_changed(self, guarded: Any) -> bool:
        return bool(guarded.flags.writeable)

    def generator(self, seed: int) -> Any:
        return self._np.random.Generator(self._np.random.PCG64(seed))

    def seed_globally(self, seed: int) -> None:
        self._np.random.seed(seed & 0xFFFFFFFF)

    def seed_replacements(self, seeded: Callable[[object], Any]) -> Replacements:
        return numpy_replacements(self._np, seeded)

    def placing(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def on_cpu(self, array: Any) -> Any:
        return array

    def wide(self, flat: Any) -> Any:
        return flat.astype(self._np.float64)

    def ravelled(self, array: Any) -> Any:
        return self._np.ascontiguousarray(array).reshape(-1)

    def as_bytes(self, flat: Any) -> Any:
        return flat.view(self._np.uint8)

    def same(self, left: Any, right: Any) -> Any:
        return left == right

    def all_same(self, left: Any, right: Any) -> bool:
        return bool((left == right).all())

    def all_near(self, expected: Any, actual: Any, rtol: float, atol: float) -> bool:
        wide = self.wide(expected)
        gap, reach = self.distance(wide, self.wide(actual)), self._np.abs(wide)
        is_finite = reach < self._np.inf
        return bool((is_finite & (gap <= atol + rtol * reach)).all())

    def distance(self, left: Any, right: Any) -> Any:
        with self._np.errstate(all="ignore"):
            return self._np.abs(left - right)

    def positions(self, mask: Any, count: int) -> list[int]:
        return [int(one) for one in self._np.flatnonzero(mask)[:count]]


def numpy_replacements(np: Any, seeded: Callable[[object], Any]) -> Replacements:
    """Stand-ins for numpy's functions that take a seed."""
    default_rng, plain_seed = np.random.default_rng, np.random.seed

    def narrow(own: object) -> Any:
        value = seeded(own)
        return value if value is own else value & 0xFFFFFFFF

    def rng(seed: Any = None) -> Any:
        is_ready = isinstance(seed, (np.random.Generator, np.random.BitGenerator))
        return default_rng(seed if is_ready else seeded(seed))

    def seed_all(seed: Any = None) -> None:
        plain_seed(narrow(seed))

    def begin(state: Any, seed: Any = None) -> None:
        np.random.mtrand.RandomState.__init__(state, narrow(seed))

    # A class, because numpy itself asks whether a seed is an instance of RandomState.
    state_class = type("RandomState", (np.random.mtrand.RandomState,), {"__init__": begin})
    return [(np.random, "default_rng", rng), (np.random, "seed", seed_all), (np.random, "RandomState", state_class)]


def is_installed(name: str) -> bool:
    """Whether a library can be imported here."""
    return name in sys.modules or find_spec(name) is not None


FAKE = "fake"
"""The device whose tensors have shapes and no values."""


@cache
def library_of(name: str, device: str) -> Library:
    """The library by name; torch tensors are made on `device`: cpu, cuda or `FAKE`. Raises ImportError."""
    if name == "numpy":
        return NumpyArrays()
    from .torch_arrays import FakeTorch, TorchArrays

    return FakeTorch() if device == FAKE else TorchArrays(device)
