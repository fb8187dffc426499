"""Sets that cannot be read, by what is wrong with them. Refusing them needs no torch: nothing of them runs."""

import json
from typing import Any

DEFINITION, WORKLOAD = "f/definitions/scale/scaled.json", "f/workloads/scale/scaled.jsonl"


def definition(**changes: Any) -> dict[str, Any]:
    """A definition in FlashInfer's form: rows times a number."""
    made: dict[str, Any] = {
        "name": "scaled", "op_type": "scale", "description": "Rows times two.",
        "axes": {"rows": {"type": "var"}, "width": {"type": "const", "value": 8}},
        "inputs": {"x": {"shape": ["rows", "width"], "dtype": "float32"}},
        "outputs": {"y": {"shape": ["rows", "width"], "dtype": "float32"}},
        "reference": "import torch\n\n\ndef run(x):\n    return x * 2\n",
    }  # fmt: skip
    return made | changes


def workload(**changes: Any) -> dict[str, Any]:
    inner = {"uuid": "one", "axes": {"rows": 4}, "inputs": {"x": {"type": "random"}}} | changes
    return {"definition": "scaled", "solution": None, "workload": inner, "evaluation": None}


def trace(made: Any = None, case: Any = None, **more: str | bytes) -> dict[str, str | bytes]:
    """A set of one definition and one workload."""
    one = made if isinstance(made, str) else json.dumps(made or definition())
    return {DEFINITION: one, WORKLOAD: json.dumps(case or workload()) + "\n", **more}


def declared(n_bytes: int) -> bytes:
    """A safetensors file that declares this many bytes of data and has none."""
    header = json.dumps({"x": {"dtype": "F32", "shape": [n_bytes // 4], "data_offsets": [0, n_bytes]}}).encode()
    return len(header).to_bytes(8, "little") + header


def recorded(path: str = "blob/x.safetensors") -> dict[str, Any]:
    return workload(inputs={"x": {"type": "safetensors", "path": path, "tensor_key": "x"}})


LEVEL_FILE = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, x):
        return x + self.width


def get_inputs():
    return [torch.rand(4, 3)]


def get_init_inputs():
    return [3]
"""


def cut_off(before: str, level: str = "level1") -> dict[str, str | bytes]:
    """A level of one file that ends where this text begins."""
    return {f"KernelBench/{level}/7_Case.py": LEVEL_FILE[: LEVEL_FILE.index(before)]}


BAD: dict[str, tuple[str, dict[str, str | bytes], str]] = {
    "truncated JSON": ("flashinfer", trace(json.dumps(definition())[:100]), "Unterminated string"),
    "a data type that is none": (
        "flashinfer", trace(definition(inputs={"x": {"shape": ["rows", "width"], "dtype": "float7"}})), "float7",
    ),
    "a length that contradicts a constant axis": (
        "flashinfer", trace(case=workload(axes={"rows": 4, "width": 9})), "width",
    ),
    "an axis that nothing declares": (
        "flashinfer", trace(definition(outputs={"y": {"shape": ["rows", "height"], "dtype": "float32"}})), "height",
    ),
    "10 GB in 100 bytes": (
        "flashinfer", trace(case=recorded(), **{"f/blob/x.safetensors": declared(10**10)}), "10000000000 bytes of data",
    ),
    "recorded data outside the set": ("flashinfer", trace(case=recorded("../../../../etc/passwd")), "etc/passwd"),
    "recorded data under a name that no file can have": (
        "flashinfer", trace(case=recorded("x" * 400)), "cannot be one",
    ),
    "a definition whose name leaves the set": (
        "flashinfer", trace(definition(name="../../../secret")), "outside of the set",
    ),
    "a definition whose name is a path of the machine": (
        "flashinfer", trace(definition(name="/etc/scaled")), "there is no workloads/scale/etc/scaled.jsonl",
    ),
    "a definition under a name that no file can have": ("flashinfer", trace(definition(name="é" * 200)), "cannot be"),
    "a definition whose name ends a string": ("flashinfer", trace(definition(name="a\0b")), "cannot be one"),
    "a workload cut short": (
        "flashinfer", trace() | {WORKLOAD: json.dumps(workload())[:60]}, "Unterminated",
    ),
    "a file cut off before its Model": ("kernelbench", cut_off("class Model"), "no `class Model`"),
    "a file of level 1 cut off in its Model": ("kernelbench", cut_off("self.width\n\n"), "no `def get_inputs`"),
    "a file of level 2 cut off in forward": ("kernelbench", cut_off(" + self", "level2"), "no `def get_inputs`"),
    "a file of level 3 cut off after get_inputs": (
        "kernelbench", cut_off("def get_init", "level3"), "no `def get_init_inputs`",
    ),
    "a challenge that is no text": ("leetgpu", {"c/easy/1_sum/challenge.py": b"\xff\xfe"}, "not UTF-8"),
}  # fmt: skip
