"""The files of a new problem, to be changed by its author."""

from collections.abc import Mapping
from typing import Literal

Arrays = Literal["numpy", "torch"]

_STATEMENT = """\
---
slug: {slug}
title: {slug}
difficulty: easy
tags: []
group: functions
---

Compute $y_i = a x_i + y_i$ for every element. `y` is changed in place.
"""
_NUMPY = '''\
"""y = a * x + y, in place."""

import numpy as np
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class Axpy(FunctionProblem):
    # In call order. Directions: in, out, inout. Roles: data, weight, structure (may stay the same in every call).
    parameters = (
        Array("x", "float32", "in", ("n",)),
        Array("y", "float32", "inout", ("n",)),
        Scalar("a", "float32"),
        Scalar("n", "size_t"),  # named like an axis: takes its length
    )
    accuracy = Tolerance(rtol=1e-5, atol=1e-6, reason="two roundings of float32 an element")  # or Exact()
    cases = (
        Case("1", size=1, n=1),
        Case("1,000", size=1_000, n=1_000),
        Case("1,000,000", size=1_000_000, n=1_000_000),
    )

    def inputs(self, case, rng):
        """Every array of direction in or inout, and every scalar that is no axis, drawn from `rng`."""
        return {
            "x": rng.standard_normal(case.n, dtype=np.float32),
            "y": rng.standard_normal(case.n, dtype=np.float32),
            "a": 2.5,
        }

    def reference(self, case, x, y, a):
        """The outputs in the order of the parameters."""
        return np.float32(a) * x + y

    def flops(self, case):
        return 2 * case.n
'''
_TORCH = (
    _NUMPY.replace("import numpy as np\nfrom", "import torch\nfrom")
    .replace("    # In call order.", '    arrays = "torch"\n    # In call order.')
    .replace("rng.standard_normal(case.n, dtype=np.float32)", "torch.randn(case.n, generator=rng, device=self.device)")
    .replace("np.float32(a) * x", "a * x")
)
_KNOWN_BAD = '''\
"""Leaves `y` as it is."""


def solution(x, y, a, n):
    pass
'''
_DEFINITIONS: Mapping[Arrays, str] = {"numpy": _NUMPY, "torch": _TORCH}


def new_problem(slug: str, arrays: Arrays) -> Mapping[str, str]:
    """The files of a new problem by their path. They make a whole problem, which passes its check."""
    return {
        "def.py": _DEFINITIONS[arrays],
        "problem.md": _STATEMENT.format(slug=slug),
        "known_bad/unchanged.py": _KNOWN_BAD,
        "known_bad/expect.json": '{"unchanged": "wrong_answer"}\n',
    }
