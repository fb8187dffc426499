"""Definitions of function problems for tests, as their authors would write them."""

import textwrap
from pathlib import Path
from typing import Any

from problems.formats.functions.inside.loaded import Loaded, load
from problems.formats.functions.inside.make_manifest import manifest_of
from problems.spec.function.manifest import Manifest

SOFTMAX = """\
import numpy as np
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class RowSoftmax(FunctionProblem):
    parameters = (
        Array("x", "float32", "in", ("rows", "cols")),
        Array("y", "float32", "out", ("rows", "cols")),
        Scalar("rows", "size_t"), Scalar("cols", "size_t"),
    )
    accuracy = Tolerance(rtol=1e-5, atol=1e-6, reason="one rounding per operation")
    cases = (Case("3 x 5", rows=3, cols=5), Case("40 x 30", size=1200, rows=40, cols=30))

    def inputs(self, case, rng):
        return {"x": rng.standard_normal((case.rows, case.cols), dtype=np.float32)}

    def reference(self, case, x):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def flops(self, case):
        return 5 * case.rows * case.cols
"""

SCALE_IN_PLACE = """\
import numpy as np
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar


class ScaleInPlace(FunctionProblem):
    parameters = (
        Array("table", "int64", "in", (4,), role="structure"),
        Array("values", "int64", "inout", ("n",)),
        Array("flags", "bool", "out", ("n",)),
        Scalar("factor", "int32"), Scalar("n", "size_t"),
    )
    accuracy = Exact("whole numbers")
    cases = (Case("one", n=1), Case("many", n=1000))

    def inputs(self, case, rng):
        return {"table": np.arange(4), "values": rng.integers(-(2**62), 2**62, case.n), "factor": 3}

    def reference(self, case, table, values, factor):
        values += table[factor] * factor
        return values, values > 0
"""


def written(folder: Path, text: str) -> str:
    path = folder / "def.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return str(path)


def loaded(folder: Path, text: str = SOFTMAX, device: str = "cpu") -> Loaded:
    return load(written(folder, text), device)


def manifest(folder: Path, text: str = SOFTMAX, device: str = "cpu") -> Manifest:
    return Manifest.model_validate(manifest_of(loaded(folder, text, device)))


def softmax_with(**members: Any) -> str:
    """The softmax with class members replaced by other source lines."""
    lines = "".join(f"    {name} = {value}\n" for name, value in members.items())
    return SOFTMAX + "\n" + lines
