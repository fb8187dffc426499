"""Executes a definition and finds its one problem class."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import declared
from .errors import DefinitionError, placed

MODULE_NAME = "podium_definition"


@dataclass(frozen=True)
class Definition:
    """An executed definition: the class, and its source for the lines of errors."""

    path: str
    problem_class: type
    tree: ast.Module

    @property
    def file(self) -> str:
        return self.path.rpartition("/")[2]

    def line_of(self, member: str) -> int:
        """The line where the class gives a member, else the class's own line."""
        node = next(one for one in ast.walk(self.tree) if isinstance(one, ast.ClassDef) and self._is_class(one))
        return next((one.lineno for one in reversed(node.body) if member in _names(one)), node.lineno)

    def _is_class(self, node: ast.ClassDef) -> bool:
        return node.name == self.problem_class.__name__

    def fault(self, member: str, what: str, remedy: str) -> DefinitionError:
        return DefinitionError(self.file, self.line_of(member), what, remedy)

    @contextmanager
    def calling(self, member: str) -> Iterator[None]:
        """Give every error of a call of the class its place. Interrupts pass."""
        try:
            yield
        except Exception as error:
            raise placed(error, self.path, self.line_of(member), f"`{member}`") from error


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [one.id for one in targets if isinstance(one, ast.Name)]


def read(path: str) -> tuple[str, ast.Module]:
    """The definition's text and syntax tree. Raises DefinitionError."""
    name = path.rpartition("/")[2]
    try:
        text = Path(path).read_bytes().decode()
        return text, ast.parse(text, path)
    except OSError as error:
        raise DefinitionError(name, 0, f"cannot be read: {error.strerror}", "give the path of a def.py") from error
    except UnicodeDecodeError as error:
        raise DefinitionError(name, 0, f"is not UTF-8 text (byte {error.start})", "save it as UTF-8") from error
    except (SyntaxError, ValueError) as error:
        raise placed(error, path) from error


def execute(path: str, bases: dict[str, type]) -> Definition:
    """Execute the file with the modules that offer the base classes, by module name. Raises DefinitionError."""
    text, tree = read(path)
    module = types.ModuleType(MODULE_NAME)
    module.__file__ = path
    sys.modules[MODULE_NAME] = module
    for name, base in bases.items():
        sys.modules[name] = _offering(name, base)
    try:
        exec(compile(text, path, "exec"), module.__dict__)  # noqa: S102 - inside a sandbox
    except Exception as error:
        raise placed(error, path) from error
    return Definition(path, _the_class(module, path, tuple(bases.values())), tree)


def _offering(name: str, base: type) -> types.ModuleType:
    module = types.ModuleType(name)
    if base is declared.FunctionProblem:
        module.__dict__.update({one: getattr(declared, one) for one in declared.__all__})
        module.__dict__["__all__"] = declared.__all__
    else:
        module.__dict__[base.__name__] = base
    return module


def _the_class(module: types.ModuleType, path: str, bases: tuple[type, ...]) -> type:
    """The last in its line of inheritance: helpers between it and the base are allowed."""
    values = [one for one in module.__dict__.values() if isinstance(one, type) and issubclass(one, bases)]
    own = list(dict.fromkeys(one for one in values if one not in bases))
    leaves = [one for one in own if not any(other is not one and issubclass(other, one) for other in own)]
    if len(leaves) == 1:
        return leaves[0]
    file = path.rpartition("/")[2]
    if not leaves:
        remedy = "derive one class from podium_functions.FunctionProblem (or from problem.Problem)"
        raise DefinitionError(file, 0, "defines no problem class", remedy)
    names = ", ".join(one.__name__ for one in leaves)
    raise DefinitionError(file, 0, f"defines {len(leaves)} problem classes: {names}", "keep one in each definition")
