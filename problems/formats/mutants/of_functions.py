"""Mutants of a function problem: answers that do no work, and the reference without one of its operations."""

import ast
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from problems.formats.mutants import inside
from problems.formats.mutants.mutant import Mutant
from problems.formats.set_folders import embedded
from problems.spec.function.problem import FunctionProblem
from problems.spec.function.signature import python_signature
from problems.spec.solution import SourceFile

IDLE = Path(inside.__file__).parent / "idle.py"
MOVING_CALLS = frozenset({
    "zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like", "full_like", "arange", "asarray",
    "array", "ascontiguousarray", "copy", "reshape", "ravel", "astype", "view", "item", "range", "len", "int", "float",
    "bool", "errstate", "float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "tuple", "list", "zip", "enumerate", "broadcast_to", "finfo", "iinfo", "append", "clone", "contiguous",
    "flatnonzero", "nonzero",
})  # fmt: skip
"""Calls that move data or make room: without one the reference does the same work, or does not run."""


def mutants_of(problem: FunctionProblem, operations: Sequence[str]) -> Iterator[Mutant]:
    """The mutants as solutions in Python. `operations` are the names of those of a torch reference, "" if not known."""
    yield _idle(problem, "does nothing", "", "nothing")
    for place, one in enumerate(problem.manifest.outputs):
        yield _idle(problem, "zeros", f"`{one.name}`", "zeros", place)
        yield _idle(problem, "constant", f"`{one.name}`", "constant", place)
        yield _idle(problem, "skipped tail", f"`{one.name}`", "tail", place)
        yield from _copies(problem, place)
    yield _idle(problem, "first answer replayed", "", "replayed")
    if problem.manifest.arrays == "torch":
        for number, name in enumerate(operations):
            title = f"number {number + 1}: `{name}`" if name else f"number {number + 1}"
            yield _idle(problem, "operation left out", title, "without", 0, 0, number)
    else:
        for name, text in reduced(problem.definition.content):
            yield _idle(problem, "operation left out", name, "whole", definition=text)


def _copies(problem: FunctionProblem, place: int) -> Iterator[Mutant]:
    """Copies of each input that has an output's data type and number of elements in every case."""
    manifest = problem.manifest
    output = manifest.outputs[place]
    for at, one in enumerate(manifest.parameters):
        if one.kind != "array" or one.direction == "out" or one.dtype != output.dtype:
            continue
        cases = manifest.cases
        if cases and all(math.prod(case.shapes[one.name]) == case.elements(output.name) for case in cases):
            yield _idle(problem, "input copied", f"`{one.name}` to `{output.name}`", "copied", place, at)


def _idle(
    problem: FunctionProblem, kind: str, name: str, how: str, output: int = 0, source: int = 0, number: int = 0,
    definition: str = "",
) -> Mutant:  # fmt: skip
    device = "cuda" if problem.device == "gpu" else "cpu"
    parameters = problem.manifest.parameters
    lines = [
        embedded("A sample of the audit: it does less than the problem asks for.", IDLE),
        "",
        f"DEFINITION = {(definition or problem.definition.content)!r}",
        f"IDLE = Idle(DEFINITION, {device!r}, {how!r}, {output}, {source}, {number})",
        "",
        "",
        f"{python_signature(parameters)}:",
        f"    IDLE({', '.join(one.name for one in parameters)})",
    ]
    return Mutant(kind, name, (SourceFile(path="solution.py", content="\n".join(lines) + "\n"),))


def reduced(definition: str) -> Iterator[tuple[str, str]]:
    """The definition once for each operation of `reference`, with that one left out: (its place, the text)."""
    places = [node for node in _nodes(ast.parse(definition)) if _is_operation(node)]
    for number, place in enumerate(places):
        tree = ast.parse(definition)
        _Without(number).visit(tree)
        where = f"line {getattr(place, 'lineno', 0)}: {ast.unparse(place)[:80]}"
        yield where, ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes of the methods named `reference`, parents before children."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "reference":
            yield from _beneath(node)


def _beneath(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        yield from _beneath(child)


def _is_operation(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return True
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Call) and _operand(node) is not None


def _operand(node: ast.Call) -> ast.expr | None:
    """The value that takes the place of a call: the object of a method, else the first argument."""
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in MOVING_CALLS or name.startswith("_"):
        return None
    if isinstance(function, ast.Attribute) and not _is_module(function.value):
        return function.value
    return node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None


def _is_module(node: ast.expr) -> bool:
    """Whether a function belongs to a library: `np.exp`, `np.add.at`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in ("np", "numpy", "torch", "math", "self", "F")


class _Without(ast.NodeTransformer):
    """Leaves out the operation of a number, counted as `_nodes` gives them."""

    def __init__(self, number: int) -> None:
        self._left = number
        self._is_inside = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name == "reference":
            self._is_inside = True
            self.generic_visit(node)
            self._is_inside = False
            return node
        return self.generic_visit(node)

    def visit(self, node: ast.AST) -> ast.AST:
        if self._is_inside and _is_operation(node):
            if self._left == 0:
                self._left = -1
                return _replacement(node)
            self._left -= 1
        found: ast.AST = super().visit(node)
        return found


def _replacement(node: ast.AST) -> ast.AST:
    if isinstance(node, ast.BinOp):
        return node.left if not isinstance(node.left, ast.Constant) else node.right
    if isinstance(node, ast.UnaryOp):
        return node.operand
    if isinstance(node, ast.AugAssign):
        return ast.Pass()
    assert isinstance(node, ast.Call)
    operand = _operand(node)
    assert operand is not None
    return operand
