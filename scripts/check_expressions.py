"""Checks that only the modules listed in expressions.toml use regular expressions: `check_expressions.py [ROOT]`.

An expression can take quadratic time or worse on text that its author did not think of, and holds the interpreter
meanwhile. The list says of each module why its expressions are safe.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("benchmarks", "demo", "leaderboard", "podium", "problems", "runners", "scoring", "scripts")
LIST = Path("scripts/expressions.toml")
_BANNED = frozenset({"re", "regex", "sre_compile"})
_IMPORTERS = frozenset({"__import__", "import_module"})


def faults(root: Path) -> Iterator[str]:
    """The faults, in the order of the modules' names."""
    reasons: dict[str, object] = tomllib.loads((root / LIST).read_text(encoding="utf-8"))
    users = {path.relative_to(root).as_posix() for path in _modules(root) if uses_expressions(path.read_bytes())}
    for name in sorted(users | reasons.keys()):
        reason = reasons.get(name)
        if name not in reasons:
            yield f"{name} uses regular expressions and is not listed in {LIST}: use methods of str, or list it"
        elif not isinstance(reason, str) or not reason.strip():
            yield f"{name} is listed in {LIST} without a reason"
        elif name not in users:
            yield f"{name} is listed in {LIST}, but {_why_unused(root / name)}"


def _why_unused(path: Path) -> str:
    return "uses no regular expressions" if path.is_file() else "does not exist"


def _modules(root: Path) -> Iterator[Path]:
    for package in PACKAGES:
        yield from (path for path in (root / package).rglob("*.py") if "migrations" not in path.parts)


def uses_expressions(source: bytes) -> bool:
    """Whether a module imports `re` or `regex`, anywhere and in any form."""
    return any(name.partition(".")[0] in _BANNED for node in ast.walk(ast.parse(source)) for name in _imported(node))


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and not node.level:
        yield node.module or ""
    elif isinstance(node, ast.Call) and _last_name(node.func) in _IMPORTERS:
        yield from (
            part.value for part in node.args[:1] if isinstance(part, ast.Constant) and isinstance(part.value, str)
        )


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def main(root: Path) -> int:
    """Print the faults; 1 if there are any."""
    found = list(faults(root))
    sys.stdout.writelines(f"{fault}\n" for fault in found)
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main(Path(*sys.argv[1:2])))
