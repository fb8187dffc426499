"""Reads in the sources which code of a compiled program is the harness's, for the witness."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from problems.spec.command.macros import C_SUFFIXES
from problems.spec.command.problem import CommandProblem
from problems.spec.solution import SourceFile
from runners.agent.sandbox.policy import SourceFacts

_COMPILED = (".c", ".cc", ".cpp", ".cxx", ".cu")
_MAIN = re.compile(r"\bmain\b")
_WORD = re.compile(r"\w+")
_FUNCTION = re.compile(
    r"(?<=[\w>&*])[ \t\n]+[&*]*(?:\w{1,99}::){0,5}(\w{1,199})[ \t\n]*"
    r"\([^(){};]*\)[ \t\n]*(?:const|noexcept)?[ \t\n]*([{;])"
)
"""A function's name and what follows its parameters: a body or, for a declaration, a semicolon."""
_NO_TYPE = frozenset({"return", "else", "do", "goto", "new", "throw", "case", "co_return"})
_MOST_FUNCTIONS = 500


def source_facts(problem: CommandProblem, files: Sequence[SourceFile]) -> SourceFacts:
    """See `SourceFacts`. Empty for a problem without C or C++ sources."""
    texts = tuple(file.content for file in files if file.path.endswith(C_SUFFIXES))
    if not texts:
        return SourceFacts()
    sources = [file for file in (*problem.context_files, *problem.test_files) if file.path.endswith(C_SUFFIXES)]
    judging = [file for file in sources if file in problem.test_files or _MAIN.search(file.content)]
    is_own_program = any(map(_MAIN.search, texts)) and not any(_may_judge_by_include(problem))
    return SourceFacts(
        harness_files=_stems(judging),
        solution_files=_stems(files) if is_own_program else (),
        harness_functions=_functions_of_harness(tuple(file.content for file in sources), texts),
    )


def _stems(files: Sequence[SourceFile]) -> tuple[str, ...]:
    return tuple(sorted({PurePosixPath(file.path).stem for file in files if file.path.endswith(_COMPILED)}))


def _may_judge_by_include(problem: CommandProblem) -> Iterator[bool]:
    """Whether a solution's own source may become the harness by including one of the problem's files."""
    for file in problem.test_files:
        yield file.path.endswith(C_SUFFIXES) and not file.path.endswith(_COMPILED)
    for file in problem.context_files:
        yield file.path.endswith(C_SUFFIXES) and not file.path.endswith(_COMPILED) and bool(_MAIN.search(file.content))


def _functions_of_harness(harness: tuple[str, ...], solution: tuple[str, ...]) -> tuple[str, ...]:
    """Functions with a body in the harness. Those that the solution names or the harness only declares are left out."""
    if any("##" in text for text in solution):  # it can make up names
        return ()
    named = {word for text in solution for word in _WORD.findall(text.replace("\\\n", ""))}
    return tuple(name for name in _defined(harness) if name not in named)[:_MOST_FUNCTIONS]


@lru_cache(maxsize=64)
def _defined(texts: tuple[str, ...]) -> tuple[str, ...]:
    found: dict[str, set[str]] = {"{": set(), ";": set()}
    for text in texts:
        for match in _FUNCTION.finditer(text):
            before = _WORD.findall(text[max(0, match.start() - 20) : match.start()])
            if not before or before[-1] not in _NO_TYPE:
                found[match[2]].add(match[1])
    return tuple(sorted(found["{"] - found[";"]))
