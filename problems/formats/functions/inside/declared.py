"""The author's module `podium_functions`: parameters, cases, accuracy and the base class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .errors import DeclarationError

__all__ = ["Array", "Case", "Exact", "FunctionProblem", "Scalar", "Tolerance"]

ARRAY_DTYPES = (
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn_x2",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
)  # fmt: skip
DIRECTIONS, ROLES = ("in", "out", "inout"), ("data", "structure", "weight")
HELD_OUT = "held-out "
"""How the manifest's names of held-out cases begin."""
MOST_INPUT_SETS = 64
"""As the manifest has it."""


def _one_of(value: object, allowed: tuple[str, ...], what: str) -> None:
    if value not in allowed:
        raise DeclarationError(f"{what} is {value!r}", f"use one of {', '.join(allowed)}")


def _name(value: object, what: str) -> None:
    if not isinstance(value, str) or not value.isidentifier() or not value.isascii() or len(value) > 100:
        raise DeclarationError(f"{what} has the name {value!r}", "use an ASCII identifier")


@dataclass(frozen=True)
class Array:
    """A C-contiguous array. `dims` names its axes, outermost first; a number is a fixed length.

    Arrays of role `structure` may hold the same values in every call. All others must be drawn anew.
    """

    name: str
    dtype: str
    direction: str
    dims: tuple[Any, ...]
    role: str = "data"

    def __post_init__(self) -> None:
        _name(self.name, "an array")
        _one_of(self.dtype, ARRAY_DTYPES, f"the dtype of `{self.name}`")
        _one_of(self.direction, DIRECTIONS, f"the direction of `{self.name}`")
        _one_of(self.role, ROLES, f"the role of `{self.name}`")
        if not isinstance(self.dims, tuple) or not all(isinstance(one, (str, int)) for one in self.dims):
            raise DeclarationError(f"the dims of `{self.name}` are {self.dims!r}", 'use a tuple, as ("rows", 3)')

    @property
    def is_written(self) -> bool:
        return self.direction != "in"


@dataclass(frozen=True)
class Scalar:
    """A number passed by value. One that is named like an axis takes the axis's length."""

    name: str
    dtype: str

    def __post_init__(self) -> None:
        _name(self.name, "a scalar")
        _one_of(self.dtype, ("size_t", *ARRAY_DTYPES), f"the dtype of `{self.name}`")


class Case:
    """One set of axis lengths, read as attributes: `case.rows`. `size` is its place on a chart's axis.

    A timed go calls `solution` on `input_sets` inputs in a row, where a single call is too short to be timed.
    A held-out case is timed and ranked, and never run in trials or shown. Such cases come last.
    """

    def __init__(
        self, name: str, size: float | None = None, *, input_sets: int = 1, held_out: bool = False, **axes: int
    ) -> None:
        if not isinstance(name, str) or not name or len(name) > 200:
            raise DeclarationError(f"a case has the name {name!r}", "give it a text of at most 200 characters")
        if not isinstance(held_out, bool):
            raise DeclarationError(f"`held_out` of case `{name}` is {held_out!r}", "use True or False")
        if name.startswith(HELD_OUT):
            what = f"a case has the name {name!r}; names that begin so are given to held-out cases"
            raise DeclarationError(what, "choose another, and write held_out=True if it is one")
        for axis, length in axes.items():
            if isinstance(length, bool) or not isinstance(length, int) or length < 0:
                raise DeclarationError(f"axis `{axis}` of case `{name}` is {length!r}", "use a whole number")
        if type(input_sets) is not int or not 1 <= input_sets <= MOST_INPUT_SETS:
            what = f"`input_sets` of case `{name}` is {input_sets!r}"
            raise DeclarationError(what, f"use a whole number from 1 to {MOST_INPUT_SETS}")
        self.name = name
        self.size = size
        self.input_sets = input_sets
        self.held_out = held_out
        self.axes = axes

    def __getattr__(self, name: str) -> int:
        try:
            return self.__dict__["axes"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(f"case `{self.__dict__.get('name')}` has no axis `{name}`") from None


@dataclass(frozen=True)
class Tolerance:
    """An element is right if |actual − expected| ≤ atol + rtol · |expected|. `reason` gives the figures' source."""

    rtol: float
    atol: float
    reason: str

    def __post_init__(self) -> None:
        for name, value in (("rtol", self.rtol), ("atol", self.atol)):
            if not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
                raise DeclarationError(f"{name} is {value!r}", "use a number that is not negative")
        if not isinstance(self.reason, str) or not self.reason.strip():
            raise DeclarationError("the tolerance has no reason", "say what error a correct solution may make, and why")


@dataclass(frozen=True)
class Exact:
    """An element is right if it equals the expected one."""

    reason: str = ""


class FunctionProblem:
    """Base class of a problem. A definition has one subclass, which gives these members and the two methods."""

    parameters: tuple[Any, ...] = ()
    accuracy: Any = None
    cases: tuple[Case, ...] = ()
    arrays: str = "numpy"
    computes_in: str = "fp32"
    fastest_dtype: str | None = None
    """Fastest arithmetic that the accuracy admits; None: `computes_in`."""
    output_init: str = "poison"
    device: str = "cpu"
    """Set by the loader: where torch tensors are made."""

    def inputs(self, case: Case, rng: Any) -> dict[str, Any]:
        """Every array of direction in or inout, and every scalar that is no axis, by name.

        `rng` is a numpy Generator, or a torch Generator on `self.device`.
        """
        raise NotImplementedError

    def reference(self, case: Case, **inputs: Any) -> Any:
        """The arrays of direction out and inout in the parameters' order: one array, or a tuple of them."""
        raise NotImplementedError

    def flops(self, case: Case) -> float | None:  # noqa: ARG002
        """Operations of one call; None: not declared."""
        return None

    def bytes(self, case: Case) -> float | None:  # noqa: ARG002
        """Bytes that one call must move; None: each input read once and each output written once."""
        return None
