"""Reads a definition for torch without running it, for machines that have no torch: its signature, and no shapes."""

from __future__ import annotations

import ast
import ctypes
from typing import Any

from . import declared
from .declared import Array, Exact, Scalar, Tolerance
from .errors import DeclarationError, DefinitionError, placed
from .importing import read
from .tensara_signature import Declared, declared_by_ctypes, declared_by_parameters

_BASES = {"FunctionProblem": "podium", "Problem": "tensara"}


def manifest_as_read(path: str) -> dict[str, Any] | None:
    """The manifest of a definition for torch, without cases; None if it needs no torch. Raises DefinitionError."""
    tree = read(path)[1]
    node = _problem_class(tree)
    if node is None or not _names_torch(tree):
        return None
    try:
        return _of_ours(node) if _base(node) == "podium" else _of_theirs(node)
    except (DeclarationError, _Unreadable) as error:
        raise _not_readable(path, node, error) from error


class _Unreadable(ValueError):
    """An expression that only running it can tell."""

    def __init__(self, node: ast.AST) -> None:
        self.line = getattr(node, "lineno", 0)
        super().__init__("cannot be told without running it")


def _not_readable(path: str, node: ast.ClassDef, error: Exception) -> DefinitionError:
    if isinstance(error, _Unreadable):
        what = "the signature cannot be told without torch, which is not installed here"
        return DefinitionError(path.rpartition("/")[2], error.line, what, "pack where torch is installed")
    return placed(error, path, node.lineno)


def _problem_class(tree: ast.Module) -> ast.ClassDef | None:
    return next((one for one in tree.body if isinstance(one, ast.ClassDef) and _base(one)), None)


def _base(node: ast.ClassDef) -> str:
    names = [one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in node.bases]
    return next((_BASES[name] for name in names if name in _BASES), "")


def _names_torch(tree: ast.Module) -> bool:
    """Whether the file imports torch anywhere, or says that its arrays are torch's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(one.name.split(".")[0] == "torch" for one in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("torch", "problem"):
            return True
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value == "torch":
            return True
    return False


def _member(node: ast.ClassDef, name: str) -> ast.expr | None:
    found = None
    for one in node.body:
        targets = one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.AnnAssign) else []
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            found = one.value  # type: ignore[attr-defined]
    return found


def _method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    found = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == name]
    return found[-1] if found else None


def _literal(node: ast.expr | None, default: Any) -> Any:
    if node is None:
        return default
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise _Unreadable(node) from error


def _of_ours(node: ast.ClassDef) -> dict[str, Any]:
    given = _member(node, "parameters")
    if not isinstance(given, (ast.Tuple, ast.List)):
        raise _Unreadable(given or node)
    parameters = [_constructed(one) for one in given.elts]
    computes_in = _literal(_member(node, "computes_in"), "fp32")
    return {
        "form": "podium", "arrays": "torch", "class_name": node.name,
        "parameters": [_our_parameter(one) for one in parameters],
        "output_init": _literal(_member(node, "output_init"), "poison"),
        "dtype": computes_in, "fastest_dtype": _literal(_member(node, "fastest_dtype"), None) or computes_in,
        "accuracy": _accuracy(node), "cases": [], "is_run": False,
    }  # fmt: skip


def _constructed(node: ast.expr) -> Any:
    """The declaration that a call of one of our classes makes of literals."""
    name = getattr(getattr(node, "func", None), "attr", "") or getattr(getattr(node, "func", None), "id", "")
    if not isinstance(node, ast.Call) or name not in declared.__all__ or any(one.arg is None for one in node.keywords):
        raise _Unreadable(node)
    taken = [_literal(one, None) for one in node.args]
    named = {str(one.arg): _literal(one.value, None) for one in node.keywords}
    try:
        return getattr(declared, name)(*taken, **named)
    except TypeError as error:
        raise DeclarationError(f"line {node.lineno}: {error}", "correct the arguments") from error


def _our_parameter(one: Any) -> dict[str, Any]:
    if isinstance(one, Scalar):
        return _parameter(one.name, "scalar", one.dtype, "in", "data")
    if not isinstance(one, Array):
        raise DeclarationError("`parameters` must hold Arrays and Scalars only", "declare each in call order")
    return _parameter(one.name, "array", one.dtype, one.direction, one.role)


def _parameter(name: str, kind: str, dtype: str, direction: str, role: str) -> dict[str, Any]:
    return {
        "name": name, "kind": kind, "dtype": dtype, "direction": direction, "role": role,
        "const": kind == "array" and direction == "in",
    }  # fmt: skip


def _accuracy(node: ast.ClassDef) -> dict[str, Any]:
    given = _member(node, "accuracy")
    value = None if given is None else _constructed(given)
    reason = getattr(value, "reason", "")
    if _method(node, "verify") is not None:
        return {"kind": "own", "rtol": 0.0, "atol": 0.0, "reason": reason}
    if isinstance(value, Tolerance):
        return {"kind": "tolerance", "rtol": value.rtol, "atol": value.atol, "reason": reason}
    if isinstance(value, Exact):
        return {"kind": "exact", "rtol": 0.0, "atol": 0.0, "reason": reason}
    raise DeclarationError("`accuracy` is not set", "give Tolerance(…), Exact(), or a method `verify`")


def _of_theirs(node: ast.ClassDef) -> dict[str, Any]:
    listed = _member(node, "parameters")
    signature = declared_by_parameters(_literal(listed, None)) if listed is not None else _ctypes_of(node)
    first, last = _output_places(node, len(signature))
    parameters = [_their_parameter(place, one, is_output=first <= place < last) for place, one in enumerate(signature)]
    return {
        "form": "tensara" if listed is not None else "tensara-2025-03", "arrays": "torch", "class_name": node.name,
        "parameters": parameters, "output_init": "zero", "dtype": "fp32", "fastest_dtype": "tf32",
        "accuracy": {"kind": "own", "rtol": 0.0, "atol": 0.0, "reason": "the problem's own verify_result"},
        "cases": [], "is_run": False,
    }  # fmt: skip


def _ctypes_of(node: ast.ClassDef) -> list[Declared]:
    method = _method(node, "get_function_signature")
    returned = _returned(method)
    if not isinstance(returned, ast.Dict):
        raise _Unreadable(method or node)
    pairs = {_literal(key, None): value for key, value in zip(returned.keys, returned.values) if key is not None}
    types = pairs.get("argtypes")
    if not isinstance(types, ast.List):
        raise _Unreadable(returned)
    return declared_by_ctypes({"argtypes": [_ctype(one) for one in types.elts]})


def _ctype(node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and _last_name(node.func) == "POINTER" and len(node.args) == 1:
        return ctypes.POINTER(_ctype(node.args[0]))
    name = _last_name(node)
    if not name.startswith("c_") or not hasattr(ctypes, name):
        raise _Unreadable(node)
    return getattr(ctypes, name)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _returned(method: ast.FunctionDef | None) -> ast.expr | None:
    """The value of a method's last `return`."""
    found = [one for one in ast.walk(method) if isinstance(one, ast.Return)] if method is not None else []
    return found[-1].value if found else None


def _output_places(node: ast.ClassDef, count: int) -> tuple[int, int]:
    """Outputs stand behind the reference's arguments and before the extra parameters."""
    reference = _method(node, "reference_solution")
    if reference is None or reference.args.vararg is not None:
        raise _Unreadable(reference or node)
    extras = _returned(_method(node, "get_extra_params"))
    if extras is not None and not isinstance(extras, (ast.List, ast.Tuple)):
        raise _Unreadable(extras)
    first = len(reference.args.args) - 1
    last = count - (len(extras.elts) if extras is not None else 0)
    if not 0 < last - first <= count:
        raise DeclarationError(f"the signature's {count} parameters leave no output", "make signature and calls agree")
    return first, last


def _their_parameter(place: int, one: Declared, *, is_output: bool) -> dict[str, Any]:
    name = one.name or ("output" if is_output else f"parameter_{place}")
    dtype = "int64" if one.is_pointer and one.dtype == "size_t" else one.dtype or "float32"
    return _parameter(name, "array" if one.is_pointer else "scalar", dtype, "out" if is_output else "in", "data")
