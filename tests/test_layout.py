"""The shape of the code: files and functions that a reader can hold, and what each module says it is for."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("leaderboard", "problems", "runners", "scoring", "podium", "demo", "benchmarks")
MAX_FILE_LINES = 450
MAX_FUNCTION_LINES = 60
MODULES = sorted(
    path.relative_to(ROOT)
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if "migrations" not in path.parts
)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_is_short_and_says_what_it_is_for(module: Path) -> None:
    text = (ROOT / module).read_text(encoding="utf-8")
    tree = ast.parse(text)
    long = [f"{one.name} ({_lines(one)} lines)" for one in functions(tree) if _lines(one) > MAX_FUNCTION_LINES]
    assert text.count("\n") <= MAX_FILE_LINES
    assert not long
    assert ast.get_docstring(tree) or not text.strip(), "the module's first line should say what it is for"


def _lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def test_the_walk_found_the_code() -> None:
    assert len(MODULES) > 100
