"""A site's rules for a function problem."""

import math
from collections.abc import Iterator

from problems.spec.errors import Fault
from problems.spec.function.manifest import Manifest
from problems.spec.function.problem import FunctionProblem
from problems.spec.site.bounds import (
    LONGEST_SECONDS,
    MAX_MEMORY_BYTES,
    MAX_RELATIVE_TOLERANCE,
    MAX_RUN_BYTES,
    MAX_RUN_FLOPS,
    SHORTEST_SECONDS,
    outside,
)
from problems.spec.site.files import NO_REFERENCE


def function_faults(problem: FunctionProblem) -> Iterator[Fault]:
    """Values with which the problem cannot work."""
    yield from outside(("time_limit_seconds",), problem.time_limit_seconds, SHORTEST_SECONDS, LONGEST_SECONDS)
    accuracy = problem.manifest.accuracy
    if accuracy.kind == "tolerance":
        yield from outside(("manifest", "accuracy", "rtol"), accuracy.rtol, 0, MAX_RELATIVE_TOLERANCE)
    yield from _cases(problem.manifest)


def _cases(manifest: Manifest) -> Iterator[Fault]:
    for n, case in enumerate(manifest.cases):
        at = ("manifest", "cases", n)
        yield from outside((*at, "flops"), case.flops, 1, MAX_RUN_FLOPS)
        yield from outside((*at, "bytes"), case.bytes, 1, MAX_RUN_BYTES)
        for name, shape in case.shapes.items():
            yield from outside((*at, "shapes", name), math.prod(shape), 0, MAX_MEMORY_BYTES)
        for name, value in case.scalars.items():
            if isinstance(value, float) and not math.isfinite(value):
                yield Fault((*at, "scalars", name), f"must be a finite number (it is {value})")


def function_warnings(problem: FunctionProblem) -> Iterator[str]:
    """Warnings for its author."""
    if problem.reference is None:
        yield NO_REFERENCE
    if not problem.manifest.is_run:
        yield "a class that was never run, so that there are no cases (pack it in a sandbox)"
