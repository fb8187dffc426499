"""Finds the files that a problem's tests pick up by name, and the places where a stranger's file would come first."""

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from problems.spec.command.command_record import CommandRecord
from problems.spec.command.macros import C_SUFFIXES
from problems.spec.command.python_imports import loaded_modules, words_of
from problems.spec.command.system_headers import SYSTEM_MODULES, is_system_header

_INCLUDE = re.compile(
    r"""^[ \t]*\#[ \t]*(?:include|include_next|import)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)
      | \b__has_include(?:_next)?[ \t]*\([ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)""",
    re.MULTILINE | re.VERBOSE,
)
_IMPORT = re.compile(r"^[ \t]*(?:import[ \t]+([^\n#;]+)|from[ \t]+([\w.]+)[ \t]+import\b)", re.MULTILINE)
_SEARCH_FLAG = re.compile(r"(?:--include-path|--system-include|-isystem|-iquote|-idirafter|-I)(?:=|\s*)([^\s'\"]+)")
_RECIPE_SUFFIXES = ("Makefile", "makefile", ".mk", ".sh")
MAX_VISITED = 500


def search_folders(problem: CommandRecord) -> list[str]:
    """Include folders inside the workspace, in the order of the build's flags ("" is the root)."""
    recipes = [f.content for f in (*problem.context_files, *problem.test_files) if f.path.endswith(_RECIPE_SUFFIXES)]
    texts = [*_words(problem.build_command or ""), *recipes]
    found = [_inside(match[1]) for text in texts for match in _SEARCH_FLAG.finditer(text)]
    return list(dict.fromkeys(folder for folder in found if folder is not None))


def _words(command: str) -> list[str]:
    """The command with its quoting undone, as one text."""
    try:
        return [" ".join(shlex.split(command))]
    except ValueError:
        return [command]


def _inside(folder: str) -> str | None:
    path = posixpath.normpath(folder)
    if path.startswith("/") or path == ".." or path.startswith("../") or "$" in path:
        return None
    return "" if path == "." else path


def intruders(problem: CommandRecord) -> dict[str, str]:
    """Workspace paths that no solution may fill, each with the reason.

    A path is here when a file there would be found by an include or import of the tests, or of what these pull in,
    instead of the context's or the system's. Paths that the reference solution fills are never here.
    """
    own = {file.path: file.content for file in (*problem.context_files, *problem.test_files)}
    forbidden: dict[str, str] = {}
    folders = search_folders(problem)
    starts = [file.path for file in problem.test_files]
    for path in _reachable(starts, own, folders):
        for name, candidates in _references(path, own[path], folders):
            forbidden.update(_stolen(name, candidates, own))
    for path in baseline_paths(problem):
        forbidden.pop(path, None)
    return forbidden


def baseline_paths(problem: CommandRecord) -> frozenset[str]:
    """The files of the reference solution: what an honest solution is expected to bring."""
    if problem.baseline_solution is None or problem.baseline_solution.type != "file":
        return frozenset()
    return frozenset(posixpath.normpath(file.path) for file in problem.baseline_solution.files)


def shadows_system(path: str, folders: Sequence[str]) -> bool:
    """Whether a file at `path` would stand before a system header, through one of the include folders."""
    return any(is_system_header(name) for folder in folders if (name := _below(path, folder)))


def shadows_module(path: str, folders: Sequence[str], imported: frozenset[str] | None) -> bool:
    """Whether a file at `path` would stand before a module of Python or of a well-known package that the tests load.

    `imported` has the modules that the tests import; None if all modules count.
    """
    tops = {_below(path, folder).partition("/")[0].partition(".")[0] for folder in folders}
    if not path.endswith((".py", ".so", ".pyc")) or not tops & SYSTEM_MODULES:
        return False
    return imported is None or bool(tops & loaded_modules(imported))


def imported_modules(problem: CommandRecord) -> frozenset[str] | None:
    """The modules that the tests import, directly or through the problem's other files, and those that the commands
    name. None if the harness's own process must load nothing of the solution's: then every module counts.
    """
    if problem.podium.harness == "separate":
        return None
    own = {file.path: file.content for file in (*problem.context_files, *problem.test_files)}
    starts = [file.path for file in problem.test_files]
    names = {
        name.removeprefix("import ")
        for path in _reachable(starts, own, [])
        if path.endswith(".py")
        for name, _ in _references(path, own[path], [])
    }
    if "importlib" in names:  # names are made up when it runs
        return None
    return frozenset(names) | words_of([problem.test_command, problem.benchmark_command])


def python_folders(problem: CommandRecord) -> list[str]:
    """Where Python tests look for modules first: beside themselves and in the root."""
    tests = [file.path for file in problem.test_files if file.path.endswith(".py")]
    return list(dict.fromkeys([*map(posixpath.dirname, tests), ""])) if tests else []


def _below(path: str, folder: str) -> str:
    if not folder:
        return path
    return path[len(folder) + 1 :] if path.startswith(folder + "/") else ""


def _reachable(starts: Sequence[str], own: Mapping[str, str], folders: Sequence[str]) -> Iterator[str]:
    """The tests and every own file that they pull in, directly or not."""
    queue, seen = list(starts), set(starts)
    while queue and len(seen) < MAX_VISITED:
        path = queue.pop()
        yield path
        for _, candidates in _references(path, own[path], folders):
            found = next((place for place in candidates if place in own), None)
            if found is not None and found not in seen:
                seen.add(found)
                queue.append(found)


def _references(path: str, content: str, folders: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each name that a file pulls in, with the workspace paths where it is looked for, first come first served."""
    if path.endswith(C_SUFFIXES):
        yield from _included(path, content, folders)
    elif path.endswith(".py"):
        yield from _imported(path, content)


def _included(path: str, content: str, folders: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    here = posixpath.dirname(path)
    for match in _INCLUDE.finditer(content):
        quoted = match[1] or match[3]
        name = quoted or match[2] or match[4]
        places = [here, *folders] if quoted else folders
        candidates = [_inside(posixpath.join(folder, name)) for folder in places]
        yield (name if quoted else f"<{name}>"), list(dict.fromkeys(place for place in candidates if place))


def _imported(path: str, content: str) -> Iterator[tuple[str, list[str]]]:
    """Modules are looked for beside the program and, because of PYTHONPATH=. and -m, in the root."""
    here = posixpath.dirname(path)
    for match in _IMPORT.finditer(content):
        names = [match[2]] if match[2] else [part.split()[0] for part in match[1].split(",") if part.split()]
        for name in names:
            top = name.lstrip(".").partition(".")[0]
            stems = [posixpath.join(folder, top) for folder in dict.fromkeys([here, ""]) if top]
            yield f"import {top}", [stem + end for stem in stems for end in ("/__init__.py", ".py")]


def _stolen(name: str, candidates: Sequence[str], own: Mapping[str, str]) -> dict[str, str]:
    """The candidates that a solution may not fill for this name."""
    found = next((place for place in candidates if place in own), None)
    if found is not None:
        before = candidates[: candidates.index(found)]
        return dict.fromkeys(before, f"the tests' `{name}` would find it instead of {found}")
    if _names_system(name):
        return dict.fromkeys(candidates, f"the tests' `{name}` would find it instead of the system's")
    return {}


def _names_system(name: str) -> bool:
    if name.startswith("import "):
        return name.removeprefix("import ") in SYSTEM_MODULES
    if name.startswith("<"):
        return True
    return is_system_header(name)
