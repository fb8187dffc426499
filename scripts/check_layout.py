"""Checks that files, functions and lines are short and that modules say what they are for: `check_layout.py [ROOT]`."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("benchmarks", "demo", "leaderboard", "podium", "problems", "runners", "scoring")
MAX_FILE_LINES = 450
MAX_FUNCTION_LINES = 60
MAX_TEMPLATE_LINE = 120
"""Characters of a line of HTML. In Python ruff bounds them, in C++ clang-format."""


def faults(root: Path) -> Iterator[str]:
    """Faults, those of modules first, in the order of the files' names."""
    modules = sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))
    if not modules:
        yield f"there is no module below {root}"
    for path in modules:
        if "migrations" not in path.parts:
            yield from (f"{path.relative_to(root)}: {fault}" for fault in module_faults(path.read_text("utf-8")))
    for path in sorted((root / "templates").rglob("*.html")):
        yield from (f"{path.relative_to(root)}:{fault}" for fault in template_faults(path.read_text("utf-8")))


def module_faults(text: str) -> Iterator[str]:
    tree = ast.parse(text)
    if (n_lines := text.count("\n")) > MAX_FILE_LINES:
        yield f"{n_lines} lines; {MAX_FILE_LINES} are the most"
    if text.strip() and not ast.get_docstring(tree):
        yield "its first line should say what it is for"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            n_lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if n_lines > MAX_FUNCTION_LINES:
                yield f"{node.name} has {n_lines} lines; {MAX_FUNCTION_LINES} are the most"


def template_faults(text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > MAX_TEMPLATE_LINE:
            yield f"{number}: {len(line)} characters; {MAX_TEMPLATE_LINE} are the most"


def main(root: Path) -> int:
    """Print the faults; 1 if there are any."""
    found = list(faults(root))
    sys.stdout.writelines(f"{fault}\n" for fault in found)
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main(Path(*sys.argv[1:2])))
