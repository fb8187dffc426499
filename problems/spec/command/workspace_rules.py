"""Which files a solution may lay into a problem's workspace: never a test, and nothing that a test finds by itself."""

import fnmatch
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from problems.spec.command.command_record import CommandRecord
from problems.spec.command.includes import (
    baseline_paths,
    imported_modules,
    intruders,
    python_folders,
    search_folders,
    shadows_module,
    shadows_system,
)
from problems.spec.command.macros import why_rewriting
from problems.spec.paths import folder_of, spelling_key, why_bad_path
from problems.spec.solution import FileSolution, Solution, SourceFile

STRICT_FAILURE = "[VALIDATION ERROR] Solution failed validation checks."
_AUTOMATIC_MODULES = frozenset({"sitecustomize.py", "usercustomize.py", "conftest.py"})
_GLOB = re.compile(r"[^\s'\"]*[*?\[][^\s'\"]*")


@dataclass(frozen=True)
class WorkspaceRules:
    """All that checking a solution's paths needs to know of its problem."""

    test_keys: frozenset[str]
    test_folder_keys: frozenset[str]
    own_keys: frozenset[str]
    """Context and test files."""
    expected: frozenset[str]
    """Paths of the reference solution and the context: always allowed."""
    intruders: Mapping[str, str]
    sweeps: tuple[str, ...]
    """Globs of the commands that gather test files and nothing that a solution is expected to bring."""
    search_folders: tuple[str, ...]
    module_folders: tuple[str, ...]
    imported_modules: frozenset[str] | None
    """Python modules that the tests import. None: all."""
    source_bytes: int | None = None
    """Maximum size of all files together. None: the site's own limit."""

    @classmethod
    def of(cls, problem: CommandRecord) -> "WorkspaceRules":
        """Work the rules out from a problem."""
        tests = [posixpath.normpath(file.path) for file in problem.test_files]
        context = [posixpath.normpath(file.path) for file in problem.context_files]
        reference = baseline_paths(problem)
        shared = {spelling_key(folder_of(path)) for path in reference}
        return cls(
            test_keys=frozenset(map(spelling_key, tests)),
            test_folder_keys=frozenset(spelling_key(folder_of(path)) for path in tests) - shared - {""},
            own_keys=frozenset(map(spelling_key, (*tests, *context))),
            expected=reference | frozenset(context),
            intruders=intruders(problem),
            sweeps=tuple(_sweeping_globs(problem, tests, reference)),
            search_folders=tuple(search_folders(problem)),
            module_folders=tuple(python_folders(problem)),
            imported_modules=imported_modules(problem),
            source_bytes=problem.podium.source_bytes,
        )

    @classmethod
    def without_files(cls) -> "WorkspaceRules":
        """The rules that hold for every problem, whatever its files are."""
        nothing: frozenset[str] = frozenset()
        return cls(nothing, nothing, nothing, nothing, {}, (), (), (), nothing)

    def language_of(self, files: Sequence[SourceFile]) -> str:  # noqa: ARG002 - the rules of other kinds need them
        """Nothing: the build command decides on languages."""
        return ""

    def why_bad(self, files: Sequence[SourceFile]) -> str:
        """Say why these files may not be a solution, or return "" if they may.

        The same path twice is allowed, the last one counts, as in ComputeEval.
        """
        if not files:
            return "the solution has no files"
        paths = list(dict.fromkeys(file.path for file in files))
        return (
            next((reason for path in paths if (reason := why_bad_path(path))), "")
            or next((reason for file in files if (reason := _why_bad_content(file))), "")
            or next((reason for path in paths if (reason := self._why_forbidden(path))), "")
            or self._why_colliding(paths)
            or self._why_too_large(files)
            or why_rewriting(files)
        )

    def path_faults(self, paths: Sequence[str]) -> dict[int, str]:
        """The answers of `why_bad` for each path. If two collide, the later one is refused."""
        faults: dict[int, str] = {}
        good: list[str] = []
        for place, path in enumerate(paths):
            reason = (
                why_bad_path(path)
                or self._why_forbidden(path)
                or self._why_colliding(list(dict.fromkeys([*good, path])))
            )
            if reason:
                faults[place] = reason
            else:
                good.append(path)
        return faults

    def _why_too_large(self, files: Sequence[SourceFile]) -> str:
        size_bytes = sum(len(file.content.encode()) for file in {file.path: file for file in files}.values())
        if self.source_bytes is None or size_bytes <= self.source_bytes:
            return ""
        return f"the solution has {size_bytes} bytes; the problem allows {self.source_bytes}"

    def _why_forbidden(self, path: str) -> str:
        key = spelling_key(path)
        if key in self.test_keys:
            return f"{path!r} is a test file of the problem"
        if any(key.startswith(folder + "/") for folder in self.test_folder_keys):
            return f"{path!r} is in a folder of the problem's tests"
        return "" if path in self.expected else self._why_picked_up(path)

    def _why_picked_up(self, path: str) -> str:
        if reason := self.intruders.get(path, ""):
            return f"{path!r} may not be given: {reason}"
        if shadows_system(path, self.search_folders):
            return f"{path!r} may not be given: it would stand before a system header of that name"
        if shadows_module(path, self.module_folders, self.imported_modules):
            return f"{path!r} may not be given: it would stand before the Python module that the tests load"
        if posixpath.basename(path) in _AUTOMATIC_MODULES:
            return f"{path!r} may not be given: Python or pytest would load it by itself"
        if any(fnmatch.fnmatchcase(path, glob) for glob in self.sweeps):
            return f"{path!r} may not be given: the commands would take it for a test file"
        return ""

    def _why_colliding(self, paths: Sequence[str]) -> str:
        """Two spellings of one file, or a file where another needs a folder."""
        by_key: dict[str, str] = {}
        for path in paths:
            other = by_key.setdefault(spelling_key(path), path)
            if other != path:
                return f"{path!r} and {other!r} are two spellings of one path"
        taken = by_key.keys() | self.own_keys
        folders = {folder: path for path in taken for folder in _folders_above(path)}
        clash = next((key for key in by_key if key in folders), None)
        if clash is not None:
            return f"{by_key[clash]!r} is a file, but {folders[clash]!r} needs a folder of that name"
        return next(
            (
                f"{by_key[key]!r} lies in {folder!r}, which is a file"
                for key in by_key
                for folder in _folders_above(key)
                if folder in self.own_keys
            ),
            "",
        )


def _folders_above(path: str) -> list[str]:
    folders = []
    while path := folder_of(path):
        folders.append(path)
    return folders


def _why_bad_content(file: SourceFile) -> str:
    if "\0" in file.content:
        return f"{file.path!r} holds a NUL character"
    try:
        file.content.encode()
    except UnicodeEncodeError:
        return f"{file.path!r} holds a lone surrogate, which cannot be written as UTF-8"
    return ""


def _sweeping_globs(problem: CommandRecord, tests: Sequence[str], reference: frozenset[str]) -> list[str]:
    commands = (problem.build_command, problem.test_command, problem.benchmark_command)
    globs = {posixpath.normpath(glob) for command in commands for glob in _GLOB.findall(command or "")}
    return sorted(
        glob
        for glob in globs
        if reference
        and any(fnmatch.fnmatchcase(path, glob) for path in tests)
        and not any(fnmatch.fnmatchcase(path, glob) for path in reference)
    )


def strict_failure(problem: CommandRecord, solution: Solution) -> str | None:
    """ComputeEval's own validation and its words: same task_id, a file at least, no path spelt as a test's."""
    if solution.task_id != problem.task_id:
        return STRICT_FAILURE
    if isinstance(solution, FileSolution):
        paths = {file.path for file in solution.files}
        if not paths or paths & {file.path for file in problem.test_files}:
            return STRICT_FAILURE
    return None
