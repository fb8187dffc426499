"""Takes what is held out off a problem before a model's solution is tried on it.

The model reads what a trial prints, and a build may print any file that it can read. So held-out files are left out.
Where the build command names one, a stand-in is at that path: empty, or with an empty `main` if the file has a `main`.
"""

import fnmatch
import posixpath
import re
import shlex
from collections.abc import Sequence

from problems.spec.command.problem import CommandProblem
from problems.spec.record import FileRole, ProblemRecord
from problems.spec.solution import SourceFile

_C_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".cu")
_MAIN = re.compile(r"\bmain\s*\(")
EMPTY_MAIN = "int main() { return 0; }\n"


def without_held_out(problem: ProblemRecord) -> ProblemRecord:
    """The problem as a trial sees it. A function's definition is its checker's, in a sandbox of its own, and stays."""
    if not isinstance(problem, CommandProblem):
        return problem
    visible = [one.file for one in problem.files if one.role is FileRole.TEST and not one.is_held_out]
    return problem.model_copy(update={"test_files": [*visible, *stand_ins(problem)], "baseline_solution": None})


def stand_ins(problem: CommandProblem) -> list[SourceFile]:
    """The files that stand in for the held-out files which the build command names."""
    words = _words(problem.build_command or "")
    return [_stand_in(file) for file in _held_out(problem) if _is_named(file.path, words)]


def named_in(command: str, paths: Sequence[str]) -> list[str]:
    """The paths that a command names."""
    words = _words(command)
    return [path for path in paths if _is_named(path, words)]


def _held_out(problem: CommandProblem) -> list[SourceFile]:
    return [one.file for one in problem.files if one.is_held_out]


def _words(command: str) -> Sequence[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    return [posixpath.normpath(part) for word in words for part in re.split(r"[=;|&<>()`]", word) if part]


def _is_named(path: str, words: Sequence[str]) -> bool:
    """Whether a word of the command is the path, or a glob that matches it."""
    normal = posixpath.normpath(path)
    return any(normal == word or fnmatch.fnmatchcase(normal, word) for word in words)


def _stand_in(file: SourceFile) -> SourceFile:
    has_main = file.path.endswith(_C_SOURCES) and _MAIN.search(file.content)
    return SourceFile(path=file.path, content=EMPTY_MAIN if has_main else "")
