"""Records of function problems for tests."""

import json
from typing import Any

from problems.spec.function.problem import FunctionProblem, as_function
from problems.spec.profile import Profile
from problems.spec.records import parse_record

SOFTMAX_PARAMETERS: list[dict[str, Any]] = [
    {"name": "x", "kind": "array", "direction": "in", "role": "data", "dtype": "float32", "const": True},
    {"name": "y", "kind": "array", "direction": "out", "role": "data", "dtype": "float32", "const": False},
    {"name": "rows", "kind": "scalar", "direction": "in", "role": "data", "dtype": "size_t", "const": False},
    {"name": "cols", "kind": "scalar", "direction": "in", "role": "data", "dtype": "size_t", "const": False},
]


def softmax_case(rows: int = 3, cols: int = 5, **changes: Any) -> dict[str, Any]:
    return {
        "name": f"{rows} x {cols}", "size": None, "flops": 5.0 * rows * cols, "bytes": 8.0 * rows * cols,
        "shapes": {"x": [rows, cols], "y": [rows, cols]}, "scalars": {"rows": rows, "cols": cols},
        "ranks": True, "why_not": "",
    } | changes  # fmt: skip


def manifest_fields(**changes: Any) -> dict[str, Any]:
    return {
        "form": "podium", "arrays": "numpy", "class_name": "RowSoftmax", "parameters": SOFTMAX_PARAMETERS,
        "output_init": "poison", "dtype": "fp32", "fastest_dtype": "fp32",
        "accuracy": {"kind": "tolerance", "rtol": 1e-5, "atol": 1e-6, "reason": "one rounding per operation"},
        "cases": [softmax_case(), softmax_case(512, 4096)], "is_run": True,
    } | changes  # fmt: skip


def function_fields(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "function", "type": "function", "schema_version": 1, "task_id": "row-softmax", "date": "2026-11-22",
        "prompt": "Softmax of every row.", "metadata": {"podium": {"title": "Row softmax"}}, "group": "reductions",
        "definition": {"path": "def.py", "content": "SECRET = 1\n"}, "manifest": manifest_fields(),
        "languages": ["cpp", "python"], "device": "cpu",
    } | changes  # fmt: skip


def function_problem(**changes: Any) -> FunctionProblem:
    return as_function(parse_record(json.dumps(function_fields(**changes)), Profile.PODIUM))
