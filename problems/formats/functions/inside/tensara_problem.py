"""The base class of Tensara's definitions, written from its contract. The module `problem` offers it as `Problem`.

Contract: a definition derives from `Problem` and gives `reference_solution`, `generate_test_cases` and `verify_result`.
The form of March 2025 passes a dtype to the last two and states ctypes in `get_function_signature`; today's lists
`parameters` and has `generate_sample`.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
from typing import Any

from .seeding import CallSeed, mixed

DTYPES = {
    "float": "float32", "double": "float64", "float16": "float16", "half": "float16", "bfloat16": "bfloat16",
    "float8": "float8_e4m3fn", "float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2",
    "float4": "float4_e2m1fn_x2", "int": "int32", "bool": "bool", "char": "int8", "size_t": "size_t",
    **{f"{kind}{bits}_t": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""Names of types in `parameters` to ours."""
_TORCH_NAMES = {"size_t": "int64", "float4_e2m1fn_x2": "uint8"}
_CTYPES = {
    "float32": ctypes.c_float, "float64": ctypes.c_double, "float16": ctypes.c_uint16, "bfloat16": ctypes.c_uint16,
    "float8_e4m3fn": ctypes.c_uint8, "float8_e5m2": ctypes.c_uint8, "float4_e2m1fn_x2": ctypes.c_uint8,
    "int8": ctypes.c_int8, "int16": ctypes.c_int16, "int32": ctypes.c_int32, "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16, "uint32": ctypes.c_uint32, "uint64": ctypes.c_uint64,
    "bool": ctypes.c_bool, "size_t": ctypes.c_size_t,
}  # fmt: skip


class Problem:
    """The base class of a definition. `parameters` is None in the form of March 2025."""

    parameters: list[dict[str, Any]] | None = None
    is_exact = False

    def __init__(self, name: str = "", time_limit: float = 100) -> None:
        self.name = name
        self.time_limit = time_limit

    def param_dtype(self, key: str | int) -> Any:
        """The torch dtype of a parameter by name or position; float32 where it is not known."""
        torch = importlib.import_module("torch")
        listed = self.parameters or []
        if isinstance(key, int):
            found = listed[key] if -len(listed) <= key < len(listed) else {}
        else:
            found = next((one for one in listed if one.get("name") == key), {})
        name = DTYPES.get(found.get("type", "float"), "float32")
        return getattr(torch, _TORCH_NAMES.get(name, name))

    def get_function_signature(self) -> dict[str, Any]:
        """The ctypes of `parameters`."""
        return {"argtypes": [_ctype(one) for one in self.parameters or []], "restype": None}

    def get_flops(self, test_case: dict[str, Any]) -> Any:  # noqa: ARG002
        """Operations of one call; None: not declared."""
        return None

    def supports_flops(self) -> bool:
        """Whether the definition declares operations."""
        return type(self).get_flops is not Problem.get_flops

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:  # noqa: ARG002
        """Arguments after the outputs."""
        return []

    @staticmethod
    def get_seed(name: str) -> int:
        """A seed of 31 bits that depends on the name, and on the current call."""
        if CallSeed.current is not None:
            return mixed(name) & 0x7FFFFFFF
        return int.from_bytes(hashlib.md5(name.encode(), usedforsecurity=False).digest()[:4], "big") & 0x7FFFFFFF


def _ctype(one: dict[str, Any]) -> Any:
    base = _CTYPES[DTYPES[one["type"]]]
    return ctypes.POINTER(base) if one.get("pointer") else base
