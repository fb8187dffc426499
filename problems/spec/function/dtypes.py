"""The data types of function problems' parameters, with their C and Python spellings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ArrayDtype = Literal[
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn_x2",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
]  # fmt: skip
ParameterDtype = Literal[
    "size_t",
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn_x2",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
]  # fmt: skip
WHOLE_DTYPES = frozenset({"size_t", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})
PythonType = Literal["int", "float", "bool"]


@dataclass(frozen=True)
class Spelling:
    """How C++ writes a data type. `shape` is equal for types that C passes alike: half and its 16 bits, for example."""

    c: str
    """The type for g++, without any header of CUDA."""
    cuda: str
    shape: str
    python: PythonType


SPELLINGS: Mapping[str, Spelling] = {
    "float64": Spelling("double", "double", "float64", "float"),
    "float32": Spelling("float", "float", "float32", "float"),
    "float16": Spelling("uint16_t", "__half", "16 bits", "float"),
    "bfloat16": Spelling("uint16_t", "__nv_bfloat16", "16 bits", "float"),
    "float8_e4m3fn": Spelling("uint8_t", "__nv_fp8_e4m3", "8 bits", "float"),
    "float8_e5m2": Spelling("uint8_t", "__nv_fp8_e5m2", "8 bits", "float"),
    "float4_e2m1fn_x2": Spelling("uint8_t", "uint8_t", "8 bits", "float"),
    "int8": Spelling("int8_t", "int8_t", "8 bits", "int"),
    "int16": Spelling("int16_t", "int16_t", "16 bits", "int"),
    "int32": Spelling("int", "int", "32 bits", "int"),
    "int64": Spelling("int64_t", "int64_t", "64 bits", "int"),
    "uint8": Spelling("uint8_t", "uint8_t", "8 bits", "int"),
    "uint16": Spelling("uint16_t", "uint16_t", "16 bits", "int"),
    "uint32": Spelling("uint32_t", "uint32_t", "32 bits", "int"),
    "uint64": Spelling("uint64_t", "uint64_t", "64 bits", "int"),
    "bool": Spelling("bool", "bool", "8 bits", "bool"),
    "size_t": Spelling("size_t", "size_t", "64 bits", "int"),
}

C_SHAPES: Mapping[str, str] = {
    **dict.fromkeys(("float", "float32_t"), "float32"),
    **dict.fromkeys(("double", "float64_t"), "float64"),
    **dict.fromkeys(
        ("half", "__half", "_Float16", "__fp16", "__nv_bfloat16", "nv_bfloat16", "__bf16", "bfloat16", "float16_t",
         "bfloat16_t", "int16_t", "uint16_t", "short", "unsigned short", "short int", "unsigned short int"),
        "16 bits",
    ),
    **dict.fromkeys(
        ("char", "signed char", "unsigned char", "int8_t", "uint8_t", "bool", "__nv_fp8_e4m3", "__nv_fp8_e5m2",
         "__nv_fp8_storage_t", "__nv_fp4_e2m1", "__nv_fp4x2_e2m1", "__nv_fp4x2_storage_t", "byte"),
        "8 bits",
    ),
    **dict.fromkeys(("int", "unsigned", "unsigned int", "signed", "signed int", "int32_t", "uint32_t"), "32 bits"),
    **dict.fromkeys(
        ("long", "unsigned long", "long long", "unsigned long long", "long int", "unsigned long int", "long long int",
         "unsigned long long int", "int64_t", "uint64_t", "size_t", "ssize_t", "ptrdiff_t"),
        "64 bits",
    ),
}  # fmt: skip
"""Known spellings to the shape that C passes. Other names may be aliases, of which nothing is known."""
