"""Compares a Python solution's `def solution` with the declared parameters, without running it."""

import ast
import warnings
from collections.abc import Iterator, Sequence

from problems.spec.function.manifest import Parameter
from problems.spec.function.signature import FUNCTION_NAME, python_signature
from problems.spec.solution import SourceFile

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def why_bad_python(file: SourceFile, parameters: Sequence[Parameter]) -> str:
    """Say why the file's `solution` cannot be called with these parameters, or return "".

    A file that this version of Python cannot parse passes: the node's Python may be newer, and reports its errors.
    """
    tree = _parsed(file.content)
    if tree is None:
        return ""
    found = [node for node in _module_level(tree) if _binds_solution(node)]
    if not found:
        return f"{file.path} defines no `{FUNCTION_NAME}`; this problem needs `{python_signature(parameters)}`"
    last = found[-1]
    return _why_wrong(file.path, last, parameters) if isinstance(last, _Function) else ""


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _module_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements of the module, those inside `if`, `try` and `with` included."""
    waiting: list[ast.AST] = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _binds_solution(node: ast.stmt) -> bool:
    if isinstance(node, _Function | ast.ClassDef):
        return node.name == FUNCTION_NAME
    if isinstance(node, ast.Import | ast.ImportFrom):
        return any((name.asname or name.name) in (FUNCTION_NAME, "*") for name in node.names)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        names = [name for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)]
        return any(name.id == FUNCTION_NAME for name in names)
    return False


def _why_wrong(path: str, function: _Function, parameters: Sequence[Parameter]) -> str:
    where = f"{path} line {function.lineno}: `{FUNCTION_NAME}`"
    if isinstance(function, ast.AsyncFunctionDef):
        return f"{where} is async; this problem calls `{python_signature(parameters)}`"
    taken = function.args
    positional = [*taken.posonlyargs, *taken.args]
    required = len(positional) - len(taken.defaults)
    needs_keyword = any(default is None for default in taken.kw_defaults)
    fits = required <= len(parameters) and (taken.vararg is not None or len(positional) >= len(parameters))
    if function.decorator_list or (fits and not needs_keyword):
        return ""
    return f"{where} takes {_count(len(positional))}; this problem's takes {_listed(parameters)}"


def _count(number: int) -> str:
    return f"{number} parameter{'' if number == 1 else 's'}"


def _listed(parameters: Sequence[Parameter]) -> str:
    return f"{len(parameters)}: {', '.join(one.name for one in parameters)}"
