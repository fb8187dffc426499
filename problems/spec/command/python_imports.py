"""Finds the Python modules that a test loads, also through the standard library."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from problems.spec.command.system_headers import PYTHON_PACKAGES, SYSTEM_MODULES

_STANDARD = Path(ast.__file__).parent
_START = frozenset({"encodings", "encodings.utf_8"})
"""Modules that the interpreter loads from files by itself."""


@lru_cache(maxsize=256)
def loaded_modules(imported: frozenset[str]) -> frozenset[str]:
    """Top-level names of the system's modules that are loaded with these. A third-party package may load any."""
    if imported & PYTHON_PACKAGES:
        return SYSTEM_MODULES
    found: set[str] = set()
    queue = [*imported & SYSTEM_MODULES, *_START]
    while queue:
        name = queue.pop()
        if name not in found:
            found.add(name)
            queue += _loads(name)
    return frozenset(name.partition(".")[0] for name in found)


@lru_cache(maxsize=1024)
def _loads(module: str) -> frozenset[str]:
    """The modules that a module of the standard library imports when it is loaded."""
    path = _STANDARD.joinpath(*module.split("."))
    package = module if path.is_dir() else module.rpartition(".")[0]
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if module.partition(".")[0] not in sys.stdlib_module_names or not source.is_file():
        return frozenset()
    return frozenset(_imports(ast.parse(source.read_bytes()), package))


def _imports(tree: ast.AST, package: str) -> Iterator[str]:
    """Names of all imports outside functions, and of what they may name inside a package."""
    queue: list[ast.AST] = [tree]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = ".".join(part for part in (package if node.level else "", node.module or "") if part)
            yield from (origin, *(f"{origin}.{alias.name}" for alias in node.names))
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            queue += ast.iter_child_nodes(node)


def words_of(commands: Iterable[str | None]) -> frozenset[str]:
    """Modules that shell commands may name: `python -m pytest` loads runpy and pytest."""
    words = {word for command in commands for word in re.findall(r"-m\b|\w+", command or "")}
    return frozenset(words | {"runpy"}) if "-m" in words else frozenset(words)
