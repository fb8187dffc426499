"""Reads the two ways in which Tensara's definitions state a signature."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from .errors import DeclarationError
from .tensara_problem import DTYPES


@dataclass(frozen=True)
class Declared:
    """The statement on one parameter. An empty name or dtype is not stated."""

    name: str
    dtype: str
    is_pointer: bool


def declared_by_parameters(listed: Any) -> list[Declared]:
    """Today's form: dicts with `name`, `type` and `pointer`. Raises DeclarationError."""
    if not isinstance(listed, (list, tuple)) or not listed:
        raise DeclarationError("`parameters` is no list of dicts", "list every parameter in call order")
    found = [_declared_one(one) for one in listed]
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DeclarationError(f"`parameters` names `{twice}` twice", "give each its own name")
    return found


def _declared_one(one: Any) -> Declared:
    if not isinstance(one, dict) or not isinstance(one.get("name"), str) or not one["name"].isidentifier():
        raise DeclarationError(f"`parameters` holds {one!r:.80}", 'write {"name": …, "type": …, "pointer": …}')
    dtype = DTYPES.get(str(one.get("type")))
    if dtype is None:
        remedy = f"use one of {', '.join(sorted(DTYPES))}"
        raise DeclarationError(f"`{one['name']}` has the type {one.get('type')!r}", remedy)
    return Declared(one["name"], dtype, _is_true(one.get("pointer")))


def _is_true(value: Any) -> bool:
    return value is True or str(value).lower() == "true"


_DTYPES = {
    ctypes.c_float: "float32", ctypes.c_double: "float64", ctypes.c_int8: "int8", ctypes.c_uint8: "uint8",
    ctypes.c_int16: "int16", ctypes.c_uint16: "uint16", ctypes.c_int32: "int32", ctypes.c_uint32: "uint32",
    ctypes.c_int64: "int64", ctypes.c_uint64: "size_t", ctypes.c_bool: "bool", ctypes.c_char: "int8",
    ctypes.c_longlong: "int64", ctypes.c_ulonglong: "size_t",
}  # fmt: skip
"""`c_size_t` is the same object as `c_uint64` on the machines that Podium runs on."""


def declared_by_ctypes(signature: Any) -> list[Declared]:
    """The form of March 2025: `{"argtypes": [...], "restype": None}`. Raises DeclarationError."""
    types = signature.get("argtypes") if isinstance(signature, dict) else None
    if not isinstance(types, (list, tuple)) or not types:
        raise DeclarationError("`get_function_signature` has no `argtypes`", "list the ctypes of every parameter")
    return [_of_ctype(one) for one in types]


def _of_ctype(one: Any) -> Declared:
    if one is ctypes.c_void_p:
        return Declared("", "", is_pointer=True)
    pointed = getattr(one, "_type_", None) if _is_pointer(one) else None
    dtype = _DTYPES.get(one if pointed is None else pointed)
    if dtype is None:
        raise DeclarationError(f"`argtypes` holds {one!r:.80}", "use a number's ctype or a POINTER to one")
    return Declared("", dtype, is_pointer=pointed is not None)


def _is_pointer(one: Any) -> bool:
    return isinstance(one, type) and issubclass(one, ctypes._Pointer)
