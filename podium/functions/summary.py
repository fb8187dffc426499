"""Describes a function problem in a few lines of text."""

from collections.abc import Iterator

from problems.spec.function.manifest import ManifestCase
from problems.spec.function.problem import FunctionProblem

_RANKS = {True: "ranks", False: "does not rank", None: "not known whether it ranks: made without values"}


def summary_of(problem: FunctionProblem) -> Iterator[str]:
    """Title, signatures and cases."""
    manifest = problem.manifest
    yield f"{problem.task_id}: {problem.title}"
    for language in problem.languages:
        yield f"  {language + ':':8}{problem.signature(language)}"
    for file in problem.baseline_solution.files if problem.baseline_solution else []:
        yield f"  baseline: {file.path}"
    if not manifest.is_run:
        yield "  read, not run: install torch to learn its cases"
    for case in manifest.cases:
        yield f"  {_line(case)}"


def _line(case: ManifestCase) -> str:
    shapes = ", ".join(f"{name} {'x'.join(map(str, shape)) or '1'}" for name, shape in case.shapes.items())
    work = "".join(
        f", {amount:.4g} {unit}" for amount, unit in ((case.flops, "flops"), (case.bytes, "bytes")) if amount
    )
    why = f" ({case.why_not})" if case.why_not else ""
    admits = f"; accepts results in {case.admits}, which is less than `fastest_dtype` says" if case.admits else ""
    return f"{case.name}: {shapes}{work}; {_RANKS[case.ranks]}{why}{admits}"
