"""Checks the layout of the code: `check_layout.py [ROOT]`.

Files, functions and lines are short, every module says what it is for, a folder of the site is small, and no two
unrelated public classes have one name.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

PACKAGES = ("benchmarks", "demo", "leaderboard", "podium", "problems", "runners", "scoring")
MAX_FILE_LINES = 450
MAX_FUNCTION_LINES = 60
MAX_TEMPLATE_LINE = 120
"""Characters of a line of HTML. In Python ruff bounds them, in C++ clang-format."""
SITE = ("leaderboard", "runners/fleet")
MAX_FOLDER_MODULES = 14
DICTATED = frozenset({"Command", "Config", "Migration", "Meta", "Media"})
"""Names that Django looks for."""
TWO_SIDES = frozenset({"Accuracy", "Case", "FunctionProblem", "Job", "Parameter", "Problem"})
"""One thing on two sides: what the author of a function problem writes in a sandbox, and what site and node keep; a job
on the site and on a node."""
STILL_SHARED = frozenset({
    "Array", "Bounds", "Checker", "Clock", "Counted", "Ended", "Library", "NumpyArrays", "Output", "Program",
    "Reference", "Scalar", "Subject", "Timed", "TorchArrays",
})  # fmt: skip
"""Names that stand for two things yet, one of them in the node's agent."""


def faults(root: Path) -> Iterator[str]:
    """Faults, those of modules first, in the order of the files' names."""
    modules = sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))
    if not modules:
        yield f"there is no module below {root}"
    modules = [path for path in modules if "migrations" not in path.parts]
    for path in modules:
        yield from (f"{path.relative_to(root)}: {fault}" for fault in module_faults(path.read_text("utf-8")))
    for path in sorted((root / "templates").rglob("*.html")):
        yield from (f"{path.relative_to(root)}:{fault}" for fault in template_faults(path.read_text("utf-8")))
    yield from folder_faults(root, modules)
    yield from name_faults(root, modules)


def folder_faults(root: Path, modules: Sequence[Path]) -> Iterator[str]:
    """Folders of the site with too many modules."""
    folders: dict[Path, int] = defaultdict(int)
    for path in modules:
        folders[path.parent.relative_to(root)] += path.name != "__init__.py"
    for folder, n in sorted(folders.items()):
        if folder.as_posix().startswith(SITE) and n > MAX_FOLDER_MODULES:
            yield f"{folder}: {n} modules; {MAX_FOLDER_MODULES} are the most"


def name_faults(root: Path, modules: Sequence[Path]) -> Iterator[str]:
    """Public classes of one name in several modules, and names that are allowed without need."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path.relative_to(root).as_posix())
    for name, paths in sorted(places.items()):
        if len(paths) > 1 and name not in DICTATED | TWO_SIDES | STILL_SHARED:
            yield f"{name} is a class of {' and of '.join(paths)}: one name for one thing"
        if len(paths) == 1 and name in STILL_SHARED:
            yield f"{name} is a class of {paths[0]} alone: take it out of STILL_SHARED"


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
