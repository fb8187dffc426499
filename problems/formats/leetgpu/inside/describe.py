"""Describes a challenge as plain data: its parameters, and their shapes and values in each test."""

from __future__ import annotations

import ctypes
import traceback
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from .challenge import SetChallenge, _Spec

DTYPES = frozenset({
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64", "bool",
})  # fmt: skip
NUMBERS = {
    "c_float": "float32", "c_double": "float64", "c_int": "int32", "c_size_t": "size_t", "c_bool": "bool",
    "c_uint": "uint32", "c_byte": "int8", "c_ubyte": "uint8", "c_short": "int16", "c_ushort": "uint16",
    "c_long": "int64", "c_ulong": "size_t", "c_longlong": "int64", "c_ulonglong": "uint64", "c_char": "int8",
}  # fmt: skip


class ChallengeRefused(ValueError):
    """A challenge that cannot be read: the reason and what would help."""


def description(source: str) -> dict[str, Any]:
    """The description, or {"refused": …} with line, reason and remedy.

    Tensors have no values where the challenge does not look at them.
    """
    try:
        try:
            with FakeTensorMode(allow_non_fake_inputs=True):
                return _described(SetChallenge(source))
        except (NotImplementedError, RuntimeError):
            return _described(SetChallenge(source))
    except ChallengeRefused as refused:
        why, _, remedy = str(refused).partition("; ")
        return {"refused": {"line": 0, "why": why, "remedy": remedy}}
    except Exception as error:  # noqa: BLE001 - a challenge may raise anything
        frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == "challenge_of_the_set.py"]
        words = " ".join(str(error).split())[:300]
        why = f"the challenge raised {type(error).__name__}: {words}"
        return {"refused": {"line": frames[-1].lineno if frames else 0, "why": why, "remedy": "correct this line"}}


def _described(found: SetChallenge) -> dict[str, Any]:
    challenge = found.challenge("cpu")
    signature = challenge.get_solve_signature()
    if not isinstance(signature, dict):
        raise ChallengeRefused("`get_solve_signature` returns no dict; return one of names to type and direction")
    directions = {str(name): _direction(str(name), one) for name, one in signature.items()}
    tests = found.tests("cpu")
    names = {str(name): _number_type(one) for name, one in signature.items()}
    cases = [_test(test, names, number) for number, test in enumerate(tests)]
    return {
        "title": str(getattr(challenge, "name", ""))[:200],
        "rtol": float(challenge.rtol), "atol": float(challenge.atol), "directions": directions, "cases": cases,
    }  # fmt: skip


def _direction(name: str, declared: Any) -> str:
    direction = declared[1] if isinstance(declared, tuple) and len(declared) > 1 else ""
    if direction not in ("in", "out", "inout"):
        raise ChallengeRefused(f"`{name}` has the direction {direction!r}; use in, out or inout")
    return str(direction)


def _number_type(declared: Any) -> str:
    """The data type of a parameter that is passed by value; "" for a pointer."""
    kind = declared[0]
    if isinstance(kind, type) and issubclass(kind, ctypes._Pointer):
        return ""
    if kind in (ctypes.c_void_p, ctypes.c_char_p):
        return ""
    return NUMBERS.get(getattr(kind, "__name__", ""), "int64")


def _test(test: dict[str, Any], names: dict[str, str], number: int) -> dict[str, Any]:
    missing = sorted(names.keys() - test.keys())
    if missing:
        raise ChallengeRefused(f"test {number + 1} gives no `{missing[0]}`; give every parameter of the signature")
    return {name: _value(name, test[name], kind) for name, kind in names.items()}


def _value(name: str, value: Any, kind: str) -> dict[str, Any]:
    if isinstance(value, _Spec):
        value = value.made("cpu")
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).rpartition(".")[2]
        if dtype not in DTYPES or kind:
            raise ChallengeRefused(
                f"`{name}` is a tensor of {dtype}, declared {kind or 'a pointer'}; make the two agree"
            )
        return {"kind": "array", "dtype": dtype, "shape": [int(length) for length in value.shape]}
    if not isinstance(value, (bool, int, float)) or not kind:
        raise ChallengeRefused(
            f"`{name}` is {type(value).__name__}; use tensors for pointers, and numbers for all else"
        )
    return {"kind": "scalar", "dtype": kind, "value": value}
