"""A site's rules for a command problem."""

import posixpath
import re
from collections.abc import Iterator, Sequence

from problems.spec.command.problem import CommandProblem
from problems.spec.errors import Fault
from problems.spec.paths import spelling_key
from problems.spec.site.bounds import (
    LONGEST_SECONDS,
    MAX_MEMORY_BYTES,
    MAX_RUN_BYTES,
    MAX_RUN_FLOPS,
    MAX_SOURCE_BYTES,
    SHORTEST_SECONDS,
    outside,
)
from problems.spec.site.files import NO_REFERENCE, path_faults
from problems.spec.solution import SourceFile
from problems.spec.usable import why_bad_command, why_bad_places

_TOOLKIT = re.compile(r"\d{1,2}(\.\d{1,2}){0,2}", re.ASCII)
_CAPABILITY = re.compile(r"\d{1,2}(\.\d)?[a-f]?", re.ASCII)
_COMMANDS = ("build_command", "test_command", "benchmark_command")


def command_faults(problem: CommandProblem) -> Iterator[Fault]:
    """Values with which the problem cannot work."""
    yield from _time_limit(problem)
    yield from _commands(problem)
    yield from _versions(problem)
    yield from _files(problem)
    yield from _named_files(problem)
    yield from _names(problem)
    yield from _timing(problem)
    yield from _work(problem)


def command_warnings(problem: CommandProblem) -> Iterator[str]:
    """Warnings for its author."""
    if not problem.test_files:
        yield "no test files"
    if problem.reference is None:
        yield NO_REFERENCE


def _time_limit(problem: CommandProblem) -> Iterator[Fault]:
    """0 and nothing mean the default, as for ComputeEval."""
    if problem.timeout_seconds != 0:
        yield from outside(("timeout_seconds",), problem.timeout_seconds, SHORTEST_SECONDS, LONGEST_SECONDS)


def _commands(problem: CommandProblem) -> Iterator[Fault]:
    given: list[tuple[tuple[str, ...], str | None]] = [((name,), getattr(problem, name)) for name in _COMMANDS]
    given.append((("metadata", "podium", "visible_test_command"), problem.podium.visible_test_command))
    for path, command in given:
        if command is None:
            continue
        if not command.strip():
            yield Fault(path, "must not be empty; leave it out where nothing is to run")
        elif reason := why_bad_command(command):
            yield Fault(path, reason)


def _versions(problem: CommandProblem) -> Iterator[Fault]:
    toolkit, capability = problem.min_cuda_toolkit, problem.compute_capability
    if toolkit is not None and not _TOOLKIT.fullmatch(toolkit):
        yield Fault(("min_cuda_toolkit",), f"must be a version as 12.0 (it is {toolkit[:40]!r})")
    if capability is not None and not _CAPABILITY.fullmatch(capability):
        yield Fault(("compute_capability",), f"must be as 9.0 (it is {capability[:40]!r})")


def _files(problem: CommandProblem) -> Iterator[Fault]:
    yield from path_faults(("context_files",), problem.context_files)
    yield from path_faults(("test_files",), problem.test_files)
    context = {_key(file.path) for file in problem.context_files}
    for n, file in enumerate(problem.test_files):
        if _key(file.path) in context:
            yield Fault(("test_files", n, "path"), f"the path {file.path!r} is a context file, too; keep one of them")
    if reason := why_bad_places([one.file.path for one in problem.files]):
        yield Fault(("test_files",), reason)


def _named_files(problem: CommandProblem) -> Iterator[Fault]:
    """Files that are named must be there."""
    podium = ("metadata", "podium")
    here = [one.file for one in problem.files]
    yield from _absent((*podium, "build_only"), problem.podium.build_only or [], here, "context or test files")
    yield from _absent((*podium, "visible_tests"), problem.podium.visible_tests, problem.test_files, "test files")


def _absent(path: tuple[str, ...], named: Sequence[str], files: Sequence[SourceFile], what: str) -> Iterator[Fault]:
    here = {posixpath.normpath(file.path) for file in files}
    for n, name in enumerate(named):
        if posixpath.normpath(name) not in here:
            yield Fault((*path, n), f"names {name[:80]!r}, which is none of the problem's {what}")


def _names(problem: CommandProblem) -> Iterator[Fault]:
    references = problem.source_references
    if references is None:
        return
    if any(not name.strip() for name in [*(references.any or []), *(references.all or [])]):
        yield Fault(("source_references",), "has an empty name")


def _timing(problem: CommandProblem) -> Iterator[Fault]:
    if getattr(problem.timing_mode, "include", None) == []:
        yield Fault(("timing_mode", "include"), "is an empty list, so that nothing is timed; leave it out to time all")


def _work(problem: CommandProblem) -> Iterator[Fault]:
    podium, bounds = problem.podium, {"bytes": MAX_RUN_BYTES, "output_bytes": MAX_RUN_BYTES, "flops": MAX_RUN_FLOPS}
    for name, most in (bounds | {"working_set_bytes": MAX_MEMORY_BYTES, "source_bytes": MAX_SOURCE_BYTES}).items():
        yield from outside(("metadata", "podium", name), getattr(podium, name), 1, most)


def _key(path: str) -> str:
    return spelling_key(posixpath.normpath(path))
