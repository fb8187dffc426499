"""Finds the context files that decide a verdict: those that the tests include, import or run, directly or not.

A solution may replace context files. If it changes one of these, it may have changed the test.
"""

import ast
import fnmatch
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from problems.spec.command.command_record import CommandRecord
from problems.spec.command.macros import C_SUFFIXES, HASH, plain
from problems.spec.solution import SourceFile

_AUTOMATIC = frozenset(
    {"makefile", "gnumakefile", "cmakelists.txt", "conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.ini"}
    | {"pyproject.toml", "setup.cfg", "tox.ini"}
)
"""Files that build tools, Python and pytest read by themselves."""
_PROGRAMS = (".c", ".cc", ".cpp", ".cxx", ".cu", ".py")
"""Sources that a contestant may have been asked to write; see `_names`."""
_INCLUDE = re.compile(rf"{HASH}(?:include|include_next|import|embed)\b(.*)$", re.MULTILINE)
_QUOTED = re.compile(r"""\s*(?:"([^"]+)"|<([^>]+)>)""")
_STRING = re.compile(r'"([^"\\\n]+)"')
_WORD = re.compile(r"[\w.+/-]+")
_GLOB = re.compile(r"[\w.+/*?-]+")
_LETTER = re.compile(r"\w")
_LOADERS = frozenset(
    {"__import__", "import_module", "spec_from_file_location", "run_path", "run_module", "exec", "eval"}
)


def changed_context(problem: CommandRecord, files: Sequence[SourceFile]) -> dict[str, str]:
    """The context files that the solution changed although the tests rely on them, each with the reason in words.

    Files that the reference changes, too, or from which a contestant starts, are not among them. Neither are copies
    that differ only in blanks at the ends of lines.
    """
    own = {posixpath.normpath(file.path): file.content for file in problem.context_files}
    changed = _changed(files, own) - _expected(problem, own)
    return {path: why for path, why in _relied_on(problem, own).items() if path in changed} if changed else {}


def _changed(files: Sequence[SourceFile], own: Mapping[str, str]) -> set[str]:
    given = {posixpath.normpath(file.path): file.content for file in files}
    return {path for path, content in given.items() if path in own and _lines(content) != _lines(own[path])}


def _lines(text: str) -> list[str]:
    return [line.rstrip(" \t\r") for line in text.rstrip(" \t\r\n").split("\n")]


def _expected(problem: CommandRecord, own: Mapping[str, str]) -> set[str]:
    """Context files that honest solutions change."""
    baseline = problem.baseline_solution
    reference = _changed(baseline.files, own) if baseline is not None and baseline.type == "file" else set()
    return reference | {posixpath.normpath(file.path) for file in problem.starter_files}


def _relied_on(problem: CommandRecord, own: Mapping[str, str]) -> dict[str, str]:
    """Every context file that the tests or the commands pull in, and the reason."""
    tests = {posixpath.normpath(file.path): file.content for file in problem.test_files}
    commands = " ".join(filter(None, (problem.build_command, problem.test_command, problem.benchmark_command)))
    found = {path: "build or test tools read it" for path in own if posixpath.basename(path).lower() in _AUTOMATIC}
    queue = [("", commands), *tests.items(), *((path, own[path]) for path in found)]
    included: set[str] = set()
    while queue:
        path, text = queue.pop()
        is_c = path.endswith(C_SUFFIXES) or path in included
        pulled = set(_meant(_pulled(path, text, is_c=is_c), own))
        mentioned = {other for other in _meant(_mentioned(path, text), own) if _counts_if_mentioned(problem, other)}
        included |= pulled if is_c else set()
        for other in sorted((pulled | mentioned) - found.keys()):
            found[other] = f"{path} {'includes' if is_c else 'uses'} it" if path else "the commands name it"
            queue.append((other, own[other]))
    return found


def _counts_if_mentioned(problem: CommandRecord, path: str) -> bool:
    """Without a reference, nobody can tell a program of the test from one that the contestant must write."""
    return problem.baseline_solution is not None or not path.endswith(_PROGRAMS)


def _pulled(path: str, text: str, *, is_c: bool) -> Iterator[str]:
    """Globs of the files that a file includes or imports."""
    if is_c:
        yield from _included(text)
    elif path.endswith(".py"):
        yield from _imported(text)


def includes_any(texts: Sequence[str], paths: Sequence[str]) -> bool:
    """Whether C or C++ texts may include one of these files."""
    own = dict.fromkeys(map(posixpath.normpath, paths), "")
    return any(_meant(_included(text), own) for text in texts)


def _included(text: str) -> Iterator[str]:
    """The included names. A name that macros compute may be that of any header."""
    for rest in _INCLUDE.findall(plain(text)):
        name = _QUOTED.match(rest)
        if name is None:
            yield from (f"*{suffix}" for suffix in C_SUFFIXES)
        else:
            yield name[1] or name[2]


def _imported(text: str) -> Iterator[str]:
    """The files of imported modules. A program that loads modules by itself may load any."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (file for alias in node.names for file in _module_files(alias.name))
        elif isinstance(node, ast.ImportFrom):
            yield from (file for alias in node.names for file in _module_files(f"{node.module or ''}.{alias.name}"))
        elif isinstance(node, ast.Name | ast.Attribute) and _last_name(node) in _LOADERS:
            yield "*.py"


def _last_name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _module_files(dotted: str) -> Iterator[str]:
    """The files that an import of a dotted name may run, packages above it included."""
    parts = [part for part in dotted.split(".") if part]
    for n in range(1, len(parts) + 1):
        stem = "/".join(parts[:n])
        yield from (f"{stem}.py", f"{stem}/__init__.py")


def _mentioned(path: str, text: str) -> Iterator[str]:
    """Words that may be names of files: those of strings in C and Python, and all words and globs of other files."""
    if path.endswith((*C_SUFFIXES, ".py")):
        yield from (word for part in _STRING.findall(text.replace("'", '"')) for word in _WORD.findall(part))
        return
    for word in filter(_LETTER.search, _GLOB.findall(text)):
        yield word
        yield from _module_files(word)  # `python -m a.b`


def _meant(names: Iterator[str], own: Mapping[str, str]) -> list[str]:
    """The context files that the names may mean. Folders to search are not known for certain, so any folder may be."""
    globs = {re.sub(r"^(?:\.{0,2}/)+", "", posixpath.normpath(name)) for name in set(names)}
    return [path for path in own if any(_fits(path, glob) for glob in globs)]


def _fits(path: str, glob: str) -> bool:
    if glob in (path, posixpath.basename(path)) or path.endswith(f"/{glob}"):
        return True
    return "*" in glob and (fnmatch.fnmatchcase(path, glob) or fnmatch.fnmatchcase(posixpath.basename(path), glob))
